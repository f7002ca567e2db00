"""Finishing: one statement for what holds no permit; the rest with its jobs locked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from tickwell.domain.execution import Kind, State
from tickwell.domain.gate import Overlap
from tickwell.domain.outcome import Report
from tickwell.domain.rate import is_rate
from tickwell.ids import is_id
from tickwell.ports.records import Finished
from tickwell.stores.sql.bisect import finish_bisecting
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.flow.ending import Endings
from tickwell.stores.sql.flow.flow import Flow
from tickwell.stores.sql.flow.gates import KeyGates, Waiter
from tickwell.stores.sql.flow.pieces import in_pieces
from tickwell.stores.sql.parts import D, Database, Part
from tickwell.stores.sql.rows.codec import (
    ACTIVE,
    FINISHED,
    KIND_CODE,
    OUTCOME_CODE,
    QUEUED,
    STATE_CODE,
    WAITING,
)
from tickwell.stores.sql.rows.running_row import (
    RunningRow,
    counts_failures,
    end_row,
    failures_after,
)
from tickwell.stores.sql.session import Session

#: What Python raises for values that are no JSON, too deep, or too large.
DATA_ERRORS = (TypeError, ValueError, OverflowError, RecursionError)


class SqlReports(Part[D]):
    """Ends attempts."""

    async def finish(self, reports: Sequence[Report], now: int) -> Finished:
        known = [report for report in reports if is_id(report.claim.id)]
        finished = Finished()
        if known:
            finished = await finish_bisecting(
                known, lambda some: self._finish(some, now), self._cannot_be_stored
            )
        if len(known) < len(reports):
            finished.refused += [report for report in reports if not is_id(report.claim.id)]
        return finished

    async def _finish(self, reports: Sequence[Report], now: int) -> Finished:
        return await self.finish_on(self.database, reports, now)

    async def finish_on(self, database: Database, reports: Sequence[Report], now: int) -> Finished:
        """End what holds no permit by itself, and then the rest with its jobs locked."""
        quick = [report for report in reports if is_quick(report)]
        ended = await self.finish_quickly(database, quick) if quick else []
        if len(ended) == len(reports):
            return Finished()
        done = {id(report) for report in ended}
        rest = [report for report in reports if id(report) not in done]

        async def work(session: Session) -> tuple[Finished, bool]:
            finishing = Finishing(session, self.cache, now)
            return await finishing.finish(rest), finishing.stirred

        finished, stirred = await database.write(work)
        if stirred:
            self.context.ring()
        return finished

    async def finish_quickly(self, database: Database, reports: Sequence[Report]) -> list[Report]:
        """End what holds no permit; those that stood, of several on one execution the first."""
        return await database.write(lambda session: quickly(session, reports))

    def _cannot_be_stored(self, error: Exception) -> bool:
        if isinstance(error, DATA_ERRORS):
            return True
        return error.__cause__ is not None and self.context.errors.is_bad_data(error.__cause__)


def is_quick(report: Report) -> bool:
    """Whether the end of this attempt most likely concerns its execution alone."""
    job = report.claim.job
    if report.state in {State.WAITING, State.SKIPPED} or job.pause_after is not None:
        return False
    if job.concurrency is not None or job.rate is not None:
        return False
    return report.claim.kind is Kind.REQUEST or (
        job.overlap is Overlap.ALLOW and not job.trigger.follows_finish
    )


async def quickly(session: Session, reports: Sequence[Report]) -> list[Report]:
    """End what holds no permit, inside a transaction; those that stood."""
    # By id, so that two who end the same executions wait for each other instead of deadlocking.
    first = {report.claim.id: report for report in reversed(reports)}
    rows = [end_row(r, STATE_CODE[r.state], r.reason) for _, r in sorted(first.items())]
    ended = [first[id] for (id,) in await session.many("finish_quickly", rows)]
    counted = Counter((one.claim.job.project, STATE_CODE[one.state]) for one in ended)
    await session.many("count_ended", [(*which, count) for which, count in sorted(counted.items())])
    return ended


class Finishing:
    """The rest of a call of `finish`, inside a transaction."""

    def __init__(self, session: Session, cache: JobCache, now: int) -> None:
        self.session = session
        self.now = now
        self.flow = Flow(session, cache)
        self.endings = Endings(self.flow, now)
        #: Executions that end and need no gate but the job's own.
        self.ends: list[tuple[RunningRow, Report]] = []
        self.retries: list[tuple[RunningRow, Report]] = []
        #: Jobs whose gate becomes free, and the place of the report that frees it.
        self.freed: dict[str, int] = {}
        #: When, by that place.
        self.freed_at: dict[int, int] = {}
        #: By the place of the report: one to be applied by itself, or a key to be passed on.
        self.single: list[tuple[int, RunningRow, Report]] = []
        self.passed: dict[int, Waiter] = {}
        #: Ends of executions that have a place in a concurrency gate.
        self.keyed: list[tuple[int, RunningRow, Report]] = []
        self.failures: dict[str, int] = {}
        #: Something became claimable, or a planner has to look.
        self.stirred = False

    async def finish(self, reports: Sequence[Report]) -> Finished:
        """Apply each report whose attempt stands; those applied before are not refused."""
        await self.flow.locks.jobs(report.claim.job.id for report in reports)
        asked = sorted({report.claim.id for report in reports})
        found = await self.session.rows("running_rows", asked)
        running = {row[0]: RunningRow(*row) for row in found}
        running |= await self._details(running, reports)
        answered = await self._answered(reports)
        doubtful = []
        async for piece in in_pieces([*enumerate(reports)]):
            for index, report in piece:
                row = running.get(report.claim.id)
                if row is not None and row.attempt == report.claim.attempt:
                    del running[report.claim.id]
                    is_answered = report.awaits and report.claim.id in answered
                    self._sort(index, row, report.answered() if is_answered else report)
                else:
                    doubtful.append(index)
        permits = self._permits_given_back()
        await self._write()
        await self._lock_gates(permits.values())
        if self.single:
            await self._one_by_one()
        else:
            await self._together(permits)
        await self.flow.close()
        applied = await self._applied_before([(index, reports[index]) for index in doubtful])
        refused = {index for index in doubtful if index not in applied}
        return Finished(
            refused=[reports[index] for index in sorted(refused)],
            failures=await self._failures(
                report for index, report in enumerate(reports) if index not in refused
            ),
        )

    async def _details(
        self, running: dict[str, RunningRow], reports: Sequence[Report]
    ) -> dict[str, RunningRow]:
        """The rows that are not read as a whole, as far as a step after the others needs them."""
        if self.session.sql.get("running_details") is None:
            return {}
        asked = {report.claim.id for report in reports if report.state is State.WAITING}
        asked |= {row.id for row in running.values() if row.called_off}
        if asked:
            asked |= {row.id for row in running.values() if row.held_gate is not None}
        rows = await self.session.rows("running_details", list(asked)) if asked else []
        return {row[0]: RunningRow(*row) for row in rows}

    async def _answered(self, reports: Sequence[Report]) -> set[str]:
        """Executions of which a step that is awaited is final; under the locks of their jobs."""
        asked = [(report.claim.id, name) for report in reports for name in report.awaits]
        return {id for (id,) in await self.session.many("final_steps", asked)}

    def _sort(self, index: int, row: RunningRow, report: Report) -> None:
        """Put a report where it is written with others, or among those after them."""
        state, head = STATE_CODE[report.state], self.flow.locks.heads[row.job]
        if head.version != report.claim.job.version:
            self.flow.jobs.claimed[row.job] = report.claim.job
        if counts_failures(report):
            before = self.failures.get(row.job, head.failures)
            self.failures[row.job] = failures_after(report, before)
        # A recorded start has given the permit of a rate back: the next attempt needs another.
        waits = row.gate is not None and state == WAITING
        if row.called_off or is_rate(row.held_gate) or waits:
            self.single.append((index, row, report))
        elif row.held_gate is not None:
            self.keyed.append((index, row, report))
        elif state != WAITING:
            self._end(index, row, report)
        elif (
            head.version == row.job_version and not row.cancel and head.state in {ACTIVE, FINISHED}
        ):
            self.retries.append((row, report))
        else:
            self.single.append((index, row, report))

    def _end(self, index: int, row: RunningRow, report: Report) -> None:
        self.ends.append((row, report))
        if row.holds_job:
            self.freed[row.job] = index
            self.freed_at[index] = report.ended_at

    def _permits_given_back(self) -> dict[int, str]:
        """The concurrency gates in which places come free, by the place of the report.

        Before such a gate order matters: with a single step among the reports, all that pass one
        are single steps.
        """
        if self.single:
            self.single += self.keyed
            return {}
        for index, row, report in self.keyed:
            self._end(index, row, report)
        return {index: row.held_gate for index, row, _ in self.keyed if row.held_gate is not None}

    async def _lock_gates(self, given_back: Iterable[str]) -> None:
        """All gates that the steps after may pass, since gates are locked in one order."""
        gates: set[str | None] = {*given_back, *(one.gate for one in self.passed.values())}
        if self.single:
            jobs = list({row.job for _, row, _ in self.single})
            gates.update(gate for (gate,) in await self.session.rows("gates_behind", jobs))
            for _, row, _ in self.single:
                gates |= {row.held_gate, row.gate} - {None}
        await self.flow.locks.gates(gates)

    async def _write(self) -> None:
        """What needs no gate but the job's own, all together."""
        ends = []
        async for piece in in_pieces(self.ends):
            for row, report in piece:
                job, state = report.claim.job, STATE_CODE[report.state]
                if job.version != self.flow.locks.heads[row.job].version:
                    job = await self.flow.job(row.job)
                ends.append(end_row(report, state, report.reason))
                self.flow.ended[job.project, state] += 1
                if job.trigger.follows_finish or report.state is State.SKIPPED:
                    self.stirred = True
                    kind = KIND_CODE[report.claim.kind]
                    await self.flow.after_end(job, kind, state, report.ended_at)
        await self.session.many("finish", ends)
        if self.retries:
            await self._write_retries()
        if self.freed:
            await self._pass_jobs_on()
        await self.session.many(
            "set_failures", [(count, job) for job, count in self.failures.items()]
        )

    async def _pass_jobs_on(self) -> None:
        holders = []
        for job, holder in await self.session.rows("pass_job_on", list(self.freed)):
            self.flow.locks.heads[job].holder = holder
            if holder is not None:
                holders.append(holder)
        if not holders:
            return
        self.stirred = True
        if await self.session.run("queue_holders", holders) < len(holders):
            # Before a concurrency gate order matters: in the place of the report that freed it.
            for job, *waiter in await self.session.rows("keyed_holders", holders):
                self.passed[self.freed[job]] = Waiter(*waiter)

    async def _write_retries(self) -> None:
        self.stirred = True
        attempts, put_off, gone_on, again = [], [], [], []
        for row, report in self.retries:
            state = QUEUED if report.run_at <= self.now else WAITING
            put_off += row.put_off_rows(report)
            attempts.append(row.attempt_row(report))
            gone_on.append(row.go_on_row(report, report.run_at))
            again.append(row.again_row(report, report.run_at, report.rank, state))
        await self.session.run("stop", [row.id for row, _ in self.retries])
        await self.session.many("drop_put_off", put_off)
        await self.session.many("insert_attempts", attempts)
        await self.session.many("go_on", gone_on)
        await self.session.many("insert_again", again)

    async def _one_by_one(self) -> None:
        steps = {index: (row, report) for index, row, report in self.single}
        self.stirred = self.stirred or bool(steps)
        for index in sorted(steps.keys() | self.passed.keys()):
            if index in self.passed:
                await self.endings.pass_on(self.passed[index].id, self.freed_at[index])
            else:
                await self.endings.apply(*steps[index])

    async def _together(self, given_back: dict[int, str]) -> None:
        """Places in concurrency gates, given back and passed on in the order of the reports."""
        if not given_back and not self.passed:
            return
        self.stirred = True
        keys = KeyGates(self.flow.gates)
        await keys.open(Counter(given_back.values()))
        for index in sorted(given_back.keys() | self.passed.keys()):
            if index in given_back:
                keys.give_back(given_back[index])
            if index in self.passed and not is_rate(self.passed[index].gate):
                keys.stand(self.passed[index])
        await keys.close()
        for index, waiter in sorted(self.passed.items()):
            if is_rate(waiter.gate):
                await self.endings.pass_on(waiter.id, self.freed_at[index])

    async def _failures(self, reports: Iterable[Report]) -> dict[str, int]:
        jobs = {r.claim.job.id for r in reports if r.claim.job.pause_after is not None}
        return dict(await self.session.rows("failures_of", list(jobs))) if jobs else {}

    async def _applied_before(self, doubtful: list[tuple[int, Report]]) -> set[int]:
        """Reports whose reply was lost: their attempts are on record, ended then."""
        asked = [
            (index, r.claim.id, r.claim.attempt, r.ended_at, OUTCOME_CODE[r.outcome])
            for index, r in doubtful
        ]
        return {index for (index,) in await self.session.many("was_applied", asked)}
