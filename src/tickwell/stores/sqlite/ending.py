"""Ends of attempts, one by one and in order: where concurrency gates and changed jobs matter."""

from __future__ import annotations

from dataclasses import replace

from tickwell.domain.execution import Reason
from tickwell.domain.job import Job
from tickwell.domain.outcome import Report
from tickwell.stores.sql.codec import CANCELLED, DELETED, PAUSED, SKIPPED, WAITING
from tickwell.stores.sql.reports import end_of, is_taken_back, still_fires
from tickwell.stores.sqlite.flow import Flow
from tickwell.stores.sqlite.rows import Row
from tickwell.stores.sqlite.standing import Standing


class Endings:
    """Applies single reports, inside a transaction; the row of `running` is gone already."""

    def __init__(self, flow: Flow, now: int) -> None:
        self.flow = flow
        self.session = flow.session
        self.now = now

    def job_of(self, row: Standing, claimed: Job) -> Job:
        """The definition in force: that of the claim, unless the job was edited since."""
        if claimed.version == row.version:
            return claimed
        self.flow.jobs.claimed[row.job] = claimed
        return self.flow.jobs.of(row.job, claimed.id, row.version)

    def apply(self, row: Standing, report: Report) -> None:
        """What the end of this attempt does to its execution."""
        if is_taken_back(report, called_off=bool(row.called_off)):
            self._call_off(row, report)
            return
        end = end_of(report, cancel=bool(row.cancel), why=row.why)
        if end is None:
            self._try_again(row, report, report.run_at, report.rank)
        else:
            self._end(row, report, *end)

    def pass_on(self, key: int) -> None:
        """An execution was given its job's gate and stands before its concurrency gate now."""
        row = self.flow.gates.load(key)
        if row is not None:
            row.holds_job = 1
            self.flow.gates.through_key(row)

    def _end(self, row: Standing, report: Report, state: int, reason: str | None) -> None:
        job = self.job_of(row, report.claim.job)
        common = row.common_end(report, job, state, reason)
        self.session.together("end_executions", [row.end_row(report)], common)
        self.flow.ended[job.project, state] += 1
        self.flow.after_end(job, row.job, row.kind, state, report.ended_at)
        if row.place is not None:
            self.flow.gates.release_key(row.place)
        if row.holds_job:
            self.flow.gates.release_job(row.job)

    def _call_off(self, row: Standing, report: Report) -> None:
        """A change of the job took it back after it was claimed and before it started.

        It is withdrawn, unless the definition now in force wants the same fire time.
        """
        report = replace(report, charged=report.claim.charged - 1)
        if still_fires(self.job_of(row, report.claim.job), row.job_state, row.fire_time):
            self._try_again(row, report, row.run_at, row.rank)
        else:
            self._end(row, report, SKIPPED, Reason.WITHDRAWN)

    def _try_again(self, row: Standing, report: Report, run_at: int, rank: int) -> None:
        self.session.many("drop_put_off", row.put_off_rows(report))
        self.session.run("insert_attempts", *row.attempt_row(report))
        self.session.run("go_on", *row.go_on_row(report, run_at))
        pending = Row(*row.again_row(report, run_at, rank, WAITING))
        pending.fresh = True
        self.flow.gates.move(pending, WAITING)
        if row.job_version != row.version:
            self.flow.restamp(pending, self.job_of(row, report.claim.job))
        if row.place is not None:
            self.flow.gates.release_key(row.place)
        if row.job_state == DELETED:
            self.flow.end(pending, CANCELLED, "job deleted", self.now)
        elif row.job_state == PAUSED:
            self.flow.hold(pending)
        elif run_at <= self.now:
            self.flow.admit(pending, self.now, 0)
