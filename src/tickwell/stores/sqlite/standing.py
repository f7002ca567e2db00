"""A running execution whose attempt has ended, and the rows that follow from a report."""

from __future__ import annotations

from typing import Any, NamedTuple

from tickwell.domain.job import Job
from tickwell.domain.outcome import Report
from tickwell.stores.sql.codec import NO_GATE, OUTCOME_CODE, to_json
from tickwell.stores.sql.reports import attempt_row, go_on_row, put_off_rows
from tickwell.stores.sql.text import clean
from tickwell.stores.sqlite.flow import kept_for


class Standing(NamedTuple):
    """The columns of `standing`: a running execution and what its end depends on.

    The rest is read only where another attempt follows, or where a gate or a change of the job
    matters: most executions end at the first attempt.
    """

    key: int
    job: int
    attempt: int
    holds_job: int
    #: The concurrency gate in which it has a place.
    place: str | None
    called_off: int
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
    #: Why it is to be cancelled, where no person asked for it.
    why: str | None = None

    def common_end(
        self, report: Report, job: Job, state: int, reason: str | None
    ) -> tuple[Any, ...]:
        """The first parameters of `end_executions`: what many ends of a batch have in common."""
        outcome, budget = OUTCOME_CODE[report.outcome], (report.charged, report.lost)
        who = report.returned, self.attempt, report.claim.worker
        return state, outcome, clean(reason), *budget, *who, kept_for(job, state)

    def end_row(self, report: Report) -> tuple[Any, ...]:
        """A row of `end_executions`: what an end has of its own."""
        error, result = clean(report.error), to_json(report.result)
        return report.started_at, report.ended_at, error, result, self.key

    def attempt_row(self, report: Report) -> tuple[Any, ...]:
        """The parameters of `insert_attempts`."""
        return attempt_row(self.key, report, self.attempt, report.claim.worker)

    def put_off_rows(self, report: Report) -> list[tuple[int | str, int]]:
        """Rows of `drop_put_off`: one or none."""
        return put_off_rows(self.key, report, self.attempt)

    def go_on_row(self, report: Report, run_at: int) -> tuple[Any, ...]:
        """The parameters of `go_on`."""
        return go_on_row(self.key, report, self.attempt, run_at)

    def again_row(self, report: Report, run_at: int, rank: int, state: int) -> tuple[Any, ...]:
        """The parameters of `insert_again`: its job's permit stays, the concurrency permit not."""
        head = self.key, report.claim.id, self.job, state, self.queue, self.ability, self.kind
        gates = self.overlap, self.gate, self.gate_limit, NO_GATE, self.holds_job, 0
        counts = self.attempt, report.charged, report.lost, report.returned, self.own_payload
        expires_at = None if report.may_have_started else self.expires_at
        return *head, self.fire_time, run_at, rank, run_at, expires_at, *gates, *counts
