"""A running execution whose attempt has ended, and the rows that follow from a report."""

from __future__ import annotations

from typing import Any, NamedTuple

from tickwell.domain.job import Job
from tickwell.domain.outcome import Report
from tickwell.stores.sql.codec import NO_GATE
from tickwell.stores.sql.reports import attempt_row, end_columns, go_on_row
from tickwell.stores.sqlite.flow import prune_at


class Standing(NamedTuple):
    """The columns of `standing`: a running execution and what its end depends on.

    The rest is read only where another attempt follows, or where a gate or a change of the job
    matters: most executions end at the first attempt.
    """

    id: str
    key: int
    job: int
    attempt: int
    worker: str
    holds_job: int
    #: The concurrency gate in which it has a place.
    place: str | None
    called_off: int
    job_id: str
    #: The definition in force, which an edit may have changed since the claim.
    version: int
    failures: int
    cancel: int = 0
    run_at: int = 0
    rank: int = 0
    kind: int = 0
    job_version: int = 0
    fire_time: int = 0
    overlap: int = 0
    queue: str = ""
    ability: str = ""
    gate: str | None = None
    gate_limit: int = 0
    own_payload: int = 0
    job_state: int = 0
    expires_at: int | None = None

    def end_row(self, report: Report, job: Job, state: int, reason: str | None) -> tuple[Any, ...]:
        """The parameters of `end_execution`."""
        columns = end_columns(report, state, reason)
        at = prune_at(job, state, report.ended_at)
        return *columns, self.attempt, self.worker, at, self.key

    def attempt_row(self, report: Report) -> tuple[Any, ...]:
        """The parameters of `insert_attempts`."""
        return attempt_row(self.key, report, self.attempt, self.worker)

    def go_on_row(self, report: Report, run_at: int) -> tuple[Any, ...]:
        """The parameters of `go_on`."""
        return go_on_row(self.key, report, self.attempt, run_at)

    def again_row(self, report: Report, run_at: int, rank: int, state: int) -> tuple[Any, ...]:
        """The parameters of `insert_again`: its job's permit stays, the concurrency permit not."""
        head = self.key, self.id, self.job, state, self.queue, self.ability, self.kind
        gates = self.overlap, self.gate, self.gate_limit, NO_GATE, self.holds_job, 0
        counts = self.attempt, report.charged, report.lost, report.returned, self.own_payload
        expires_at = None if report.may_have_started else self.expires_at
        return *head, self.fire_time, run_at, rank, run_at, expires_at, *gates, *counts
