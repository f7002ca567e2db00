"""What the scheduler answers with: records with datetimes and names, read only.

Inside, an instant is an integer of milliseconds. These records are made where a call returns or an
event reaches a user's function, so that no loop of the engine pays for them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, Literal, TypeVar

from tickwell.clock import to_datetime
from tickwell.domain import change, execution, job, note, step
from tickwell.domain.execution import ENDED, Kind, OutcomeKind, Reason, State
from tickwell.domain.explanation import HELD_BECAUSE, SKIPPED_BECAUSE, explanation_of, reason_of
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.job import JobState
from tickwell.domain.policy import Delivery, Misfire, Retention, Retry, Timeout
from tickwell.domain.target import Target
from tickwell.domain.trigger import Trigger
from tickwell.services.executions import executions
from tickwell.services.jobs.fire_times import is_edited, next_fire
from tickwell.services.slots import slots
from tickwell.services.slots.slots import Answer

R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One ended try at an execution."""

    number: int
    outcome: OutcomeKind
    worker: str | None
    #: None: it never started.
    started_at: datetime | None
    ended_at: datetime
    error: str | None
    #: What it returned; of a webhook the status, the headers and the body of the response.
    result: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution(Generic[R]):
    """One occurrence of a job. `R` is what its handler returns."""

    id: str
    #: The job's name.
    job: str
    job_id: str
    #: The version of the definition that it was made from.
    job_version: int
    project: str
    queue: str
    #: Whether a fire time or a request made it.
    kind: Kind
    state: State
    #: Why it was skipped, cancelled or parked, or died.
    reason: Reason | None
    #: The same in words; empty if there is nothing to explain.
    explanation: str
    #: The nominal instant; delay, jitter and retries never move it.
    fire_time: datetime
    #: When it may start, or may start again.
    run_at: datetime
    created_at: datetime
    #: Of the running attempt, otherwise of the last one.
    started_at: datetime | None
    ended_at: datetime | None
    #: When the running attempt counts as lost, whatever its worker says.
    deadline: datetime | None
    #: None: the job's own payload.
    payload: Any
    #: The idempotency key of the request.
    key: str | None
    #: The number of the newest attempt; 0: none was claimed yet.
    attempt: int
    #: Attempts that count against the retry policy.
    charged: int
    #: Attempts that were lost with their worker.
    lost: int
    #: The worker that runs it, or ran it last.
    worker: str | None
    cancel_requested: bool
    error: str | None
    #: What the handler returned; None until it has succeeded.
    result: R | None
    #: The id of the dead execution that this one repeats with another payload.
    revived_from: str | None
    #: False in the answer to a request that found this run, and made none.
    is_new: bool = True
    #: Filled when one execution is read, not in lists.
    attempts: tuple[Attempt, ...] = ()

    @property
    def has_ended(self) -> bool:
        """Whether it succeeded, died, was cancelled or was skipped."""
        return self.state in ENDED


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """Who paused a job, why, since when and until when."""

    by: str
    why: str
    since: datetime
    #: None: until it is resumed.
    until: datetime | None
    #: What was paused; with its project, or with the whole platform, a job resumes with that.
    scope: Literal["job", "project", "platform"] = "job"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job: its definition, and where it stands."""

    id: str
    name: str
    project: str
    trigger: Trigger
    target: Target
    state: JobState
    #: None: nothing is to come, or the next fire time counts from the end of a running execution.
    next_fire_time: datetime | None
    #: Executions that its trigger has made, for `max_runs`.
    runs: int
    #: Dead executions in a row, for `pause_after`.
    failures: int
    pause: Pause | None
    queue: str
    payload: Any
    priority: int
    retry: Retry
    misfire: Misfire
    overlap: Overlap
    concurrency: Concurrency | None
    rate: str | None
    rate_key: str | None
    only_if: str | None
    check_in: str | None
    unless: str | None
    unique_key: str | None
    debounce: timedelta | None
    debounce_max: timedelta | None
    delivery: Delivery
    timeout: Timeout
    expires: timedelta | None
    pause_after: int | None
    auto_remove: bool
    dedupe_key: str | None
    retention: Retention
    #: The application whose code declares it; None: it was added at run time.
    app: str | None
    #: Whether it was edited since its application declared it.
    is_edited: bool
    description: str
    tags: tuple[str, ...]
    #: Counts definitions.
    version: int
    created_at: datetime
    #: When this version was saved.
    saved_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """What a pause, a resumption or a deletion did."""

    job: Job
    #: Executions taken back before a worker claimed them.
    withdrawn: int
    #: Executions that a worker holds for their instant, asked to give up.
    cancelling: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far the running attempt is, as its handler reports it."""

    attempt: int
    #: From 0 to 1.
    fraction: float
    message: str
    reported_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Something that an execution has done; later attempts do not repeat it."""

    name: str
    #: The attempt that did it.
    attempt: int
    #: What it returned, as JSON.
    value: Any
    done_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Something that an execution waits or waited for from outside."""

    name: str
    is_open: bool
    #: No answer arrived in time.
    is_expired: bool
    expires_at: datetime
    answer: Any
    #: Who answered.
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A fire time of a job with its answer."""

    fire_time: datetime
    answer: Answer
    #: Why it was skipped, or why its execution ended without success.
    reason: Reason | None
    #: The same in words; of an excluded fire time the window or calendar.
    explanation: str
    #: The id of its execution, if it has one.
    execution: str | None
    state: State | None
    #: The person who skipped it, and why.
    by: str | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Backfill:
    """What a backfill did, or would do."""

    #: The ids of the executions that run now, oldest fire time first; empty for a dry run.
    executions: tuple[str, ...]
    #: How many fire times are run, or would be.
    count: int
    #: Fire times that ran before, or are live.
    left_alone: int
    #: Where to continue if the range had too many fire times; None: all were covered.
    next: datetime | None


def attempt_of(record: execution.Attempt) -> Attempt:
    """The public record of an attempt."""
    return Attempt(
        number=record.number,
        outcome=record.outcome,
        worker=record.worker,
        started_at=moment(record.started_at),
        ended_at=to_datetime(record.ended_at),
        error=record.error,
        result=record.result,
    )


def execution_of(
    record: execution.Execution, name: str, read: Callable[[Any], Any] | None = None
) -> Execution[Any]:
    """The public record of an execution of the job with this name; `read` makes its result."""
    return Execution(
        id=record.id,
        job=name,
        job_id=record.job_id,
        job_version=record.job_version,
        project=record.project,
        queue=record.queue,
        kind=record.kind,
        state=record.state,
        reason=reason_of(record.state, record.reason, record.error),
        explanation=explanation_of(record.state, record.reason, record.error),
        fire_time=to_datetime(record.fire_time),
        run_at=to_datetime(record.run_at),
        created_at=to_datetime(record.created_at),
        started_at=moment(record.started_at),
        ended_at=moment(record.ended_at),
        deadline=moment(record.deadline),
        payload=record.payload,
        key=record.key,
        attempt=record.attempt,
        charged=record.charged,
        lost=record.lost,
        worker=record.worker,
        cancel_requested=record.cancel_requested,
        error=record.error,
        result=record.result if read is None or record.result is None else read(record.result),
        revived_from=record.revived_from,
        is_new=record.is_new,
        attempts=tuple(map(attempt_of, record.attempts)),
    )


def job_of(entry: job.Entry) -> Job:
    """The public record of a job and its cursor."""
    record, cursor, pause = entry.job, entry.cursor, entry.cursor.pause
    return Job(
        id=record.id,
        name=record.name,
        project=record.project,
        trigger=record.trigger,
        target=record.target,
        state=cursor.state,
        next_fire_time=moment(next_fire(entry)),
        runs=cursor.runs,
        failures=cursor.failures,
        pause=None if pause is None else pause_of(pause),
        queue=record.queue,
        payload=record.payload,
        priority=record.priority,
        retry=record.retry,
        misfire=record.misfire,
        overlap=record.overlap,
        concurrency=record.concurrency,
        rate=record.rate,
        rate_key=record.rate_key,
        only_if=record.only_if,
        check_in=record.check_in,
        unless=record.unless,
        unique_key=record.unique_key,
        debounce=_length(record.debounce),
        debounce_max=_length(record.debounce_max),
        delivery=record.delivery,
        timeout=record.timeout,
        expires=_length(record.expires),
        pause_after=record.pause_after,
        auto_remove=record.auto_remove,
        dedupe_key=record.dedupe_key,
        retention=record.retention,
        app=record.app,
        is_edited=is_edited(record),
        description=record.description,
        tags=record.tags,
        version=record.version,
        created_at=to_datetime(record.created_at),
        saved_at=to_datetime(record.saved_at),
    )


def pause_of(record: job.Pause) -> Pause:
    """The public record of a pause."""
    return Pause(
        by=record.by,
        why=record.why,
        since=to_datetime(record.since),
        until=moment(record.until),
        scope=record.scope.value,
    )


def changed_of(record: change.Changed) -> Changed:
    """The public record of a change."""
    return Changed(
        job=job_of(record.entry),
        withdrawn=record.withdrawn,
        cancelling=record.cancelling,
    )


def progress_of(record: note.Progress) -> Progress:
    """The public record of an attempt's progress."""
    return Progress(
        attempt=record.attempt,
        fraction=record.fraction,
        message=record.message,
        reported_at=to_datetime(record.at),
    )


def step_of(record: step.Step) -> Step:
    """The public record of a step."""
    return Step(
        name=record.name,
        attempt=record.attempt,
        value=record.value,
        done_at=to_datetime(record.at),
    )


def wait_of(record: step.Step) -> Wait:
    """The public record of a wait."""
    wait = step.wait_of(record)
    return Wait(
        name=wait.name,
        is_open=wait.is_open,
        is_expired=wait.is_expired,
        expires_at=to_datetime(wait.expires_at),
        answer=wait.answer,
        by=wait.by,
    )


def slot_of(record: slots.Slot) -> Slot:
    """The public record of a slot."""
    state = State.SKIPPED if record.answer is Answer.SKIPPED else record.state
    reason = None if state is None else reason_of(state, record.reason)
    if record.answer is Answer.PAUSED:
        reason = Reason.PAUSED
    words = SKIPPED_BECAUSE.get(reason) if reason is not None else None
    if record.answer is Answer.HELD:
        words = HELD_BECAUSE
    return Slot(
        fire_time=to_datetime(record.fire_time),
        answer=record.answer,
        reason=reason,
        explanation=words or record.reason or "",
        execution=record.execution_id,
        state=record.state,
        by=record.by,
        why=record.why,
    )


def backfill_of(record: executions.Backfill) -> Backfill:
    """The public record of a backfill."""
    return Backfill(
        executions=tuple(record.ids),
        count=record.count,
        left_alone=record.left_alone,
        next=moment(record.next),
    )


def moment(instant: int | None) -> datetime | None:
    """An instant that may be missing, as a datetime."""
    return None if instant is None else to_datetime(instant)


def _length(millis: int | None) -> timedelta | None:
    return None if millis is None else timedelta(milliseconds=millis)
