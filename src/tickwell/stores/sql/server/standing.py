"""A running execution whose attempt has ended, and the rows that follow from a report."""

from __future__ import annotations

from typing import Any, NamedTuple

from tickwell.domain.outcome import Report
from tickwell.stores.sql.reports import attempt_row, end_columns, go_on_row, put_off_rows


class Standing(NamedTuple):
    """The columns of `standing`: a running execution and what its end depends on."""

    id: str
    job: str
    attempt: int
    worker: str
    holds_job: bool
    #: The concurrency gate in which it has a place.
    place: str | None
    cancel: bool
    called_off: bool
    run_at: int
    rank: int
    kind: int
    job_version: int
    fire_time: int
    overlap: int
    queue: str
    ability: str
    gate: str | None
    gate_limit: int
    own_payload: bool
    expires_at: int | None
    #: Why it is to be cancelled, where no person asked for it.
    why: str | None

    def attempt_row(self, report: Report) -> tuple[Any, ...]:
        """The parameters of `insert_attempts`."""
        return attempt_row(self.id, report, self.attempt, self.worker)

    def put_off_rows(self, report: Report) -> list[tuple[int | str, int]]:
        """Rows of `drop_put_off`: one or none."""
        return put_off_rows(self.id, report, self.attempt)

    def go_on_row(self, report: Report, run_at: int) -> tuple[Any, ...]:
        """The parameters of `go_on`."""
        return go_on_row(self.id, report, self.attempt, run_at)

    def again_row(self, report: Report, run_at: int, rank: int, state: int) -> tuple[Any, ...]:
        """The parameters of `insert_again`: its job's permit stays, the concurrency permit not."""
        head = self.id, self.job, state, self.queue, self.ability, self.kind
        gates = self.overlap, self.gate, self.gate_limit, self.holds_job
        counts = self.attempt, report.charged, report.lost, report.returned, self.own_payload
        expires_at = None if report.may_have_started else self.expires_at
        return *head, self.fire_time, run_at, rank, run_at, expires_at, *gates, *counts


def end_row(report: Report, state: int, reason: str | None) -> tuple[Any, ...]:
    """The parameters of `finish` for one report."""
    claim = report.claim
    return claim.id, claim.attempt, claim.job.version, *end_columns(report, state, reason)
