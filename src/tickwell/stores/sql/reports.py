"""What a report does to its execution, and the rows that follow from it."""

from __future__ import annotations

from typing import Any

from tickwell.domain.execution import State
from tickwell.domain.job import Job
from tickwell.domain.outcome import Report
from tickwell.stores.sql.codec import (
    ACTIVE,
    CANCELLED,
    FINISHED,
    OUTCOME_CODE,
    STATE_CODE,
    to_json,
)
from tickwell.stores.sql.text import clean


def is_taken_back(report: Report, *, called_off: bool) -> bool:
    """Whether a change of the job took it back after it was claimed and before it started."""
    gave_up = report.state in {State.WAITING, State.CANCELLED}
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
