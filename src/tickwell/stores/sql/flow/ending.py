"""Ends of attempts, one by one and in order: where concurrency gates and changed jobs matter."""

from __future__ import annotations

from dataclasses import replace

from tickwell.domain.execution import Reason
from tickwell.domain.outcome import Report
from tickwell.domain.rate import permit_back_at
from tickwell.stores.sql.flow.flow import Flow
from tickwell.stores.sql.rows.codec import CANCELLED, DELETED, PAUSED, SKIPPED, WAITING
from tickwell.stores.sql.rows.running_row import (
    RunningRow,
    end_of,
    end_row,
    is_taken_back,
    still_fires,
)


class Endings:
    """Applies single reports, inside a transaction that holds their jobs and gates."""

    def __init__(self, flow: Flow, now: int) -> None:
        self.flow = flow
        self.session = flow.session
        self.now = now

    async def apply(self, row: RunningRow, report: Report) -> None:
        """What the end of this attempt does to its execution."""
        if is_taken_back(report, called_off=row.called_off):
            await self._call_off(row, report)
            return
        end = end_of(report, cancel=row.cancel, why=row.why)
        if end is None:
            await self._try_again(row, report, report.run_at, report.rank)
        else:
            await self._end(row, report, *end)

    async def pass_on(self, id: str, now: int) -> None:
        """An execution was given its job's gate and stands before its key's gate now."""
        row = await self.flow.gates.load(id)
        if row is not None:
            row.holds_job = True
            await self.flow.gates.through_key(row, now)

    async def _release(self, row: RunningRow, report: Report, now: int) -> None:
        """Give its permit of its key's gate back, if it has one."""
        if row.held_gate is not None:
            maybe = report.ended_at if report.may_have_started else None
            at = permit_back_at(row.held_gate, report.claim.run_at, report.started_at, maybe)
            await self.flow.gates.release_key(row.held_gate, at, now)

    async def _end(self, row: RunningRow, report: Report, state: int, reason: str | None) -> None:
        job = await self.flow.job(row.job)
        await self.session.many("finish", [end_row(report, state, reason)])
        self.flow.ended[job.project, state] += 1
        await self.flow.after_end(job, row.kind, state, report.ended_at)
        await self._release(row, report, report.ended_at)
        if row.holds_job:
            await self.flow.gates.release_job(row.job, report.ended_at)

    async def _call_off(self, row: RunningRow, report: Report) -> None:
        """A change of the job took it back after it was claimed and before it started.

        It is withdrawn, unless the definition now in force wants the same fire time.
        """
        report = replace(report, charged=report.claim.charged - 1)
        job, state = await self.flow.job(row.job), self.flow.locks.heads[row.job].state
        if still_fires(job, state, row.fire_time):
            await self._try_again(row, report, row.run_at, row.rank)
        else:
            await self._end(row, report, SKIPPED, Reason.WITHDRAWN)

    async def _try_again(self, row: RunningRow, report: Report, run_at: int, rank: int) -> None:
        head = self.flow.locks.heads[row.job]
        await self.session.run("stop", [row.id])
        await self.session.many("drop_put_off", row.put_off_rows(report))
        await self.session.many("insert_attempts", [row.attempt_row(report)])
        await self.session.many("go_on", [row.go_on_row(report, run_at)])
        await self.session.many("insert_again", [row.again_row(report, run_at, rank, WAITING)])
        pending = await self.flow.gates.load(row.id)
        if pending is None:
            return
        if row.job_version != head.version:
            await self.flow.restamp(pending, await self.flow.job(row.job))
        await self._release(row, report, self.now)
        if head.state == DELETED:
            await self.flow.end(pending, CANCELLED, "job deleted", self.now)
        elif head.state == PAUSED:
            await self.flow.hold(pending, self.now)
        elif run_at <= self.now:
            await self.flow.admit(pending, self.now, 0)
