"""Events: what `@scheduler.on(…)` and `scheduler.subscribe(…)` pass to a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from tickwell.clock import to_datetime
from tickwell.domain import event as inner
from tickwell.domain import execution
from tickwell.domain.event import (
    BacklogHeld,
    Cancelled,
    Idle,
    JobChanged,
    JobOver,
    JobPaused,
    JobUnreadable,
    ListenerFailed,
    Parked,
    Planned,
    ProcessEnded,
    Revived,
    Started,
    StepFailed,
    StepRecovered,
    Stopped,
    WorkerLost,
)
from tickwell.domain.execution import Kind, OutcomeKind, Reason, State
from tickwell.domain.explanation import SKIPPED_BECAUSE, explanation_of, reason_of
from tickwell.domain.job import Job
from tickwell.domain.outcome import Report

__all__ = [
    "AttemptReport",
    "AttemptStart",
    "AttemptsFenced",
    "AttemptsFinished",
    "AttemptsStarted",
    "BacklogHeld",
    "Cancelled",
    "Event",
    "FiresSkipped",
    "Idle",
    "JobChanged",
    "JobOver",
    "JobPaused",
    "JobUnreadable",
    "Listener",
    "ListenerFailed",
    "NewExecution",
    "Parked",
    "Planned",
    "ProcessEnded",
    "Recovered",
    "Revived",
    "SkippedFires",
    "Started",
    "StepFailed",
    "StepRecovered",
    "Stopped",
    "Triggered",
    "WorkerLost",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewExecution:
    """An execution that was recorded."""

    id: str
    #: The job's name.
    job: str
    project: str
    queue: str
    #: Whether a fire time or a request made it.
    kind: Kind
    #: The nominal instant; delay, jitter and retries never move it.
    fire_time: datetime
    #: When it may start.
    run_at: datetime
    #: None: the job's own payload.
    payload: Any
    #: The idempotency key of the request.
    key: str | None
    #: The id of the dead execution that this one repeats with another payload.
    revived_from: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptReport:
    """How an attempt ended, and what that means for its execution."""

    #: The execution's id.
    execution: str
    #: The job's name.
    job: str
    project: str
    queue: str
    #: The attempt's number.
    attempt: int
    worker: str
    outcome: OutcomeKind
    #: The execution's new state; `waiting` if another attempt follows.
    state: State
    #: Why the execution died or was cancelled.
    reason: Reason | None
    #: The same in words; empty if there is nothing to explain.
    explanation: str
    fire_time: datetime
    #: None: the attempt never started.
    started_at: datetime | None
    ended_at: datetime
    #: When the next attempt may start, if one follows.
    next_attempt_at: datetime | None
    payload: Any
    error: str | None
    result: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptStart:
    """An attempt that begins."""

    #: The execution's id.
    execution: str
    #: The job's name.
    job: str
    project: str
    queue: str
    attempt: int
    worker: str
    kind: Kind
    fire_time: datetime
    started_at: datetime
    #: How long after its instant it starts, or after the instant of its retry.
    late: timedelta
    payload: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedFires:
    """Fire times of a job that were not run, for one reason."""

    #: The job's name.
    job: str
    project: str
    queue: str
    reason: Reason
    #: The same in words.
    explanation: str
    first: datetime
    last: datetime
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptsStarted:
    """Attempts begin."""

    starts: Sequence[AttemptStart]


@dataclass(frozen=True, slots=True, kw_only=True)
class FiresSkipped:
    """A planner passed over fire times, which no execution answers."""

    skips: Sequence[SkippedFires]


@dataclass(frozen=True, slots=True, kw_only=True)
class Triggered:
    """Executions were recorded: fire times that a planner answered, or runs that were requested.

    If planners race on a store without row locks, two may report the same execution.
    """

    executions: Sequence[NewExecution]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptsFinished:
    """Outcomes that the store accepted."""

    reports: Sequence[AttemptReport]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptsFenced:
    """Outcomes that the store refused: another worker had taken over their attempts."""

    reports: Sequence[AttemptReport]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """Attempts of lost workers, or past their deadline, were recovered."""

    #: Ids.
    executions: Sequence[str]
    reports: Sequence[AttemptReport]


Event = (
    Started
    | Stopped
    | Idle
    | StepFailed
    | StepRecovered
    | Planned
    | Triggered
    | JobUnreadable
    | AttemptsFinished
    | AttemptsFenced
    | WorkerLost
    | Recovered
    | Parked
    | BacklogHeld
    | JobPaused
    | JobOver
    | AttemptsStarted
    | FiresSkipped
    | JobChanged
    | Revived
    | Cancelled
    | ProcessEnded
    | ListenerFailed
)
Listener = Callable[[Event], None]

#: The engine's events that hold instants, by the class that a user's function gets instead.
_ENGINE_CLASS: dict[type, type] = {
    Triggered: inner.Triggered,
    AttemptsFinished: inner.AttemptsFinished,
    AttemptsFenced: inner.AttemptsFenced,
    Recovered: inner.Recovered,
    AttemptsStarted: inner.AttemptsStarted,
    FiresSkipped: inner.FiresSkipped,
}


def engine_class(kind: type) -> type:
    """The class of the engine's event behind a public one."""
    return _ENGINE_CLASS.get(kind, kind)


def public_event(event: inner.Event) -> Event:
    """The engine's event as users see it: with names and datetimes."""
    convert = _PUBLIC.get(type(event))
    return event if convert is None else convert(event)  # type: ignore[return-value]


def _recovered(event: inner.Recovered) -> Recovered:
    reports = tuple(map(_report_of, event.reports))
    return Recovered(executions=event.executions, reports=reports)


def _new_of(new: execution.NewExecution) -> NewExecution:
    return NewExecution(
        id=new.id,
        job=new.job.name,
        project=new.job.project,
        queue=new.job.queue,
        kind=new.kind,
        fire_time=to_datetime(new.fire_time),
        run_at=to_datetime(new.run_at),
        payload=new.payload,
        key=new.key,
        revived_from=new.revived_from,
    )


def _start_of(start: inner.AttemptStart) -> AttemptStart:
    claim = start.claim
    return AttemptStart(
        execution=claim.id,
        job=claim.job.name,
        project=claim.job.project,
        queue=claim.job.queue,
        attempt=claim.attempt,
        worker=claim.worker,
        kind=claim.kind,
        fire_time=to_datetime(claim.fire_time),
        started_at=to_datetime(start.started_at),
        late=timedelta(milliseconds=max(start.started_at - claim.run_at, 0)),
        payload=claim.payload,
    )


def _skip_of(job: Job, skip: execution.RangeSkip) -> SkippedFires:
    return SkippedFires(
        job=job.name,
        project=job.project,
        queue=job.queue,
        reason=skip.reason,
        explanation=SKIPPED_BECAUSE[skip.reason],
        first=to_datetime(skip.first),
        last=to_datetime(skip.last),
        count=skip.count,
    )


def _report_of(report: Report) -> AttemptReport:
    claim, started = report.claim, report.started_at
    return AttemptReport(
        execution=claim.id,
        job=claim.job.name,
        project=claim.job.project,
        queue=claim.job.queue,
        attempt=claim.attempt,
        worker=claim.worker,
        outcome=report.outcome,
        state=report.state,
        reason=reason_of(report.state, report.reason),
        explanation=explanation_of(report.state, report.reason),
        fire_time=to_datetime(claim.fire_time),
        started_at=None if started is None else to_datetime(started),
        ended_at=to_datetime(report.ended_at),
        next_attempt_at=to_datetime(report.run_at) if report.state is State.WAITING else None,
        payload=claim.payload,
        error=report.error,
        result=report.result,
    )


_PUBLIC: dict[type, Callable[[Any], Event]] = {
    inner.Triggered: lambda e: Triggered(executions=tuple(map(_new_of, e.executions))),
    inner.AttemptsStarted: lambda e: AttemptsStarted(starts=tuple(map(_start_of, e.starts))),
    inner.FiresSkipped: lambda e: FiresSkipped(skips=tuple(_skip_of(*one) for one in e.skips)),
    inner.AttemptsFinished: lambda e: AttemptsFinished(reports=tuple(map(_report_of, e.reports))),
    inner.AttemptsFenced: lambda e: AttemptsFenced(reports=tuple(map(_report_of, e.reports))),
    inner.Recovered: _recovered,
}
