"""Finishing: a batch of reports in a few statements, gated ones one by one after it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from tickwell.domain.job import Job
from tickwell.domain.outcome import Report
from tickwell.ports.records import Finished
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.codec import (
    ACTIVE,
    DEAD,
    FINISHED,
    OUTCOME_CODE,
    QUEUED,
    STATE_CODE,
    SUCCEEDED,
    WAITING,
)
from tickwell.stores.sqlite.ending import Endings
from tickwell.stores.sqlite.flow import Flow
from tickwell.stores.sqlite.session import Session
from tickwell.stores.sqlite.standing import Standing


class Finishing:
    """One call of `finish`, inside a transaction."""

    def __init__(self, session: Session, cache: JobCache, now: int) -> None:
        self.session = session
        self.now = now
        self.flow = Flow(session, cache)
        self.endings = Endings(self.flow, now)
        #: Executions that end and need no gate but the job's own, with the definition in force.
        self.ends: list[tuple[Standing, Report, Job]] = []
        self.retries: list[tuple[Standing, Report]] = []
        #: Jobs whose gate becomes free, and the place of the report that frees it.
        self.freed: dict[int, int] = {}
        #: By the place of the report: one to be applied by itself, or a key to be passed on.
        self.single: list[tuple[int, Standing, Report]] = []
        self.passed: list[tuple[int, int]] = []
        self.failures: dict[int, int] = {}

    def finish(self, reports: Sequence[Report]) -> Finished:
        """Apply each report whose attempt stands; those applied before are not refused."""
        asked = json.dumps([report.claim.id for report in reports])
        standing = {row[0]: Standing(*row) for row in self.session.rows("standing", asked)}
        applied, doubtful = [], []
        for place, report in enumerate(reports):
            row = standing.get(report.claim.id)
            if row is not None and row.attempt == report.claim.attempt:
                del standing[report.claim.id]
                applied.append(row.key)
                self._sort(place, row, report)
            else:
                doubtful.append(place)
        if applied:
            self.session.run("stop", json.dumps(applied))
            self._write()
            self._one_by_one()
            self.flow.close()
        refused = {place for place in doubtful if not self._was_applied(reports[place])}
        return Finished(
            refused=[reports[place] for place in sorted(refused)],
            failures=self._failures(r for place, r in enumerate(reports) if place not in refused),
        )

    def _sort(self, place: int, row: Standing, report: Report) -> None:
        """Put a report where it is written with others, or among those after them."""
        state = STATE_CODE[report.state]
        if report.claim.job.pause_after is not None and state in {SUCCEEDED, DEAD}:
            before = self.failures.get(row.job, row.failures)
            self.failures[row.job] = before + 1 if state == DEAD else 0
        if row.place is not None or row.called_off:
            self.single.append((place, row, report))
        elif state != WAITING:
            self.ends.append((row, report, self.endings.job_of(row, report.claim.job)))
            if row.holds_job:
                self.freed[row.job] = place
        elif row.version == row.job_version and not row.cancel and _goes_on(row):
            self.retries.append((row, report))
        else:
            self.single.append((place, row, report))

    def _write(self) -> None:
        """What needs no gate but the job's own, all together."""
        ends = []
        for row, report, job in self.ends:
            state = STATE_CODE[report.state]
            ends.append(row.end_row(report, job, state, report.reason))
            self.flow.ended[job.project, state] += 1
            if job.trigger.follows_finish:
                self.flow.after_end(job, row.job, row.kind, state, report.ended_at)
        self.session.many("end_execution", ends)
        if self.retries:
            self._write_retries()
        if self.freed:
            passed = self.session.rows("pass_job_on", json.dumps(list(self.freed)))
            self._queue_holders([holder for _, holder in passed if holder is not None])
        self.session.many("set_failures", [(count, job) for job, count in self.failures.items()])

    def _queue_holders(self, keys: list[int]) -> None:
        if not keys:
            return
        asked = json.dumps(keys)
        if self.session.run("queue_holders", asked).rowcount < len(keys):
            # Before a concurrency gate order matters: in the place of the report that freed it.
            rows = self.session.rows("keyed_holders", asked)
            self.passed = [(self.freed[job], key) for key, job in rows]

    def _write_retries(self) -> None:
        attempts, gone_on, again = [], [], []
        for row, report in self.retries:
            state = QUEUED if report.run_at <= self.now else WAITING
            attempts.append(row.attempt_row(report))
            gone_on.append(row.go_on_row(report, report.run_at))
            again.append(row.again_row(report, report.run_at, report.rank, state))
        self.session.many("insert_attempts", attempts)
        self.session.many("go_on", gone_on)
        self.session.many("insert_again", again)

    def _one_by_one(self) -> None:
        steps = {place: (row, report) for place, row, report in self.single}
        keys = dict(self.passed)
        for place in sorted(steps.keys() | keys.keys()):
            if place in keys:
                self.endings.pass_on(keys[place])
            else:
                self.endings.apply(*steps[place])

    def _failures(self, reports: Iterable[Report]) -> dict[str, int]:
        jobs = {r.claim.job.id for r in reports if r.claim.job.pause_after is not None}
        return {id: self.session.value("failures_of", id) for id in jobs}

    def _was_applied(self, report: Report) -> bool:
        """The reply to the same report was lost: its attempt is on record, ended then."""
        claim, outcome = report.claim, OUTCOME_CODE[report.outcome]
        found = self.session.row("was_applied", claim.id, claim.attempt, report.ended_at, outcome)
        return found is not None


def _goes_on(row: Standing) -> bool:
    return row.job_state in {ACTIVE, FINISHED}
