"""A running execution whose attempt has ended, and the rows that follow from a report."""

from __future__ import annotations

from typing import Any, NamedTuple

from tickwell.domain.execution import State
from tickwell.domain.job import Job
from tickwell.domain.outcome import BEFORE_START, Report
from tickwell.stores.sql.rows.codec import (
    ACTIVE,
    CANCELLED,
    FINISHED,
    OUTCOME_CODE,
    STATE_CODE,
    clean,
    to_json,
)


def is_taken_back(report: Report, *, called_off: bool) -> bool:
    """Whether a change of the job took it back after it was claimed and before it started."""
    gave_up = report.state in BEFORE_START
    return gave_up and called_off and report.started_at is None


def end_of(report: Report, *, cancel: bool, why: str | None) -> tuple[int, str | None] | None:
    """State and reason in which the execution ends; None: another attempt follows."""
    if report.state is not State.WAITING:
        return STATE_CODE[report.state], report.reason
    # Nobody wants what would follow, whatever became of the attempt itself.
    return (CANCELLED, why or "cancelled") if cancel else None


def still_fires(job: Job, state: int, fire_time: int) -> bool:
    """Whether the definition in force wants a fire time that was called off."""
    return state in {ACTIVE, FINISHED} and job.trigger.after(fire_time - 1) == fire_time


def counts_failures(report: Report) -> bool:
    """Whether its end counts among its job's failures in a row."""
    return report.claim.job.pause_after is not None and report.state in {
        State.SUCCEEDED,
        State.DEAD,
    }


def failures_after(report: Report, before: int) -> int:
    """Failures in a row, with this end."""
    return before + 1 if report.state is State.DEAD else 0


def end_columns(report: Report, state: int, reason: str | None) -> tuple[Any, ...]:
    """How an execution ended.

    State, outcome, reason, charged, lost, returned, started_at, ended_at, error, result.
    """
    return (
        state,
        OUTCOME_CODE[report.outcome],
        clean(reason),
        report.charged,
        report.lost,
        report.returned,
        report.started_at,
        report.ended_at,
        clean(report.error),
        to_json(report.result),
    )


def attempt_row(key: int | str, report: Report, attempt: int, worker: str) -> tuple[Any, ...]:
    """The parameters of `insert_attempts`."""
    return (
        key,
        attempt,
        OUTCOME_CODE[report.outcome],
        worker,
        report.started_at,
        report.ended_at,
        clean(report.error),
        to_json(report.result),
    )


def put_off_rows(key: int | str, report: Report, attempt: int) -> list[tuple[int | str, int]]:
    """The parameters of `drop_put_off`: what is put off again keeps the newest such attempt."""
    return [(key, attempt - 1)] if report.is_untried and attempt > 1 else []


def go_on_row(key: int | str, report: Report, attempt: int, run_at: int) -> tuple[Any, ...]:
    """The parameters of `go_on`."""
    return (
        attempt,
        report.charged,
        report.lost,
        report.returned,
        report.started_at,
        clean(report.error),
        to_json(report.result),
        run_at,
        key,
    )


class RunningRow(NamedTuple):
    """The columns of `running_rows`: a running execution and what its end depends on.

    What has a default may be left to `running_details`, which is read only where another attempt
    follows, or where a gate or a change of the job matters.
    """

    id: str
    job: str
    attempt: int
    worker: str
    holds_job: bool
    #: The concurrency gate of which it holds a permit.
    held_gate: str | None
    cancel: bool
    called_off: bool
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
    own_payload: bool = False
    expires_at: int | None = None
    #: Why it is to be cancelled, where no person asked for it.
    why: str | None = None

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
