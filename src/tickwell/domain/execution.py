"""Executions: one occurrence of a job, its attempts, and the records that stores and loops pass."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from tickwell.domain.gate import Overlap
from tickwell.domain.job import Job
from tickwell.domain.unique import Unique
from tickwell.errors import Conflict


class State(StrEnum):
    """Where an execution stands. An attempt fails; an execution dies."""

    #: Due later than the horizon, or its gate is busy and its instant has not come.
    WAITING = "waiting"
    #: Due, its gate is busy, its policy says to wait.
    BLOCKED = "blocked"
    #: Holds its permits, due within the horizon, claimable.
    QUEUED = "queued"
    #: Claimed by a worker: attempt n, with a deadline.
    RUNNING = "running"
    #: No live worker knows its handler; kept until one appears.
    PARKED = "parked"
    SUCCEEDED = "succeeded"
    #: Its budget is spent: a dead letter.
    DEAD = "dead"
    CANCELLED = "cancelled"
    #: Not run; `reason` says why.
    SKIPPED = "skipped"


PENDING = frozenset({State.WAITING, State.BLOCKED, State.QUEUED, State.PARKED})
#: Due and not running, by the state alone: some are due within the next seconds.
DUE = frozenset({State.QUEUED, State.BLOCKED, State.PARKED})
LIVE = PENDING | {State.RUNNING}
ENDED = frozenset({State.SUCCEEDED, State.DEAD, State.CANCELLED, State.SKIPPED})


class Kind(StrEnum):
    """What an execution owes its existence to."""

    #: A fire time of the trigger.
    FIRE = "fire"
    #: A request to run.
    REQUEST = "request"


class Reason(StrEnum):
    """Why a fire time did not run, or why an execution ended or waits without running."""

    #: Skipped: no planner answered it in time, and the misfire policy passed it over.
    MISFIRE = "misfire"
    #: Skipped: another execution of the job was live at its instant.
    OVERLAP = "overlap"
    #: Skipped: it waited longer than the job's `expires`.
    EXPIRED = "expired"
    #: Skipped: a limit of the project was reached.
    QUOTA = "quota"
    #: Skipped: planned ahead, then the job was paused, edited or deleted before its instant.
    WITHDRAWN = "withdrawn"
    #: Skipped: the job was paused at that time.
    PAUSED = "paused"
    #: Skipped: the job's `only_if` answered no.
    CONDITION = "condition"
    #: Skipped: a person skipped this one occurrence before its instant.
    BY_PERSON = "by_person"
    #: Skipped: a maintenance window covered it.
    MAINTENANCE = "maintenance"
    #: Skipped: missed, held as one of too many to catch up at once, and then passed over.
    BACKLOG = "backlog"
    #: Dead: every attempt of the retry policy failed.
    OUT_OF_ATTEMPTS = "out_of_attempts"
    #: Dead: the error is permanent, so no attempt follows.
    NOT_RETRYABLE = "not_retryable"
    #: Dead: its workers were lost as often as the retry policy allows.
    LOST = "lost"
    #: Dead: the next attempt would start later than the retry policy's `max_age` allows.
    TOO_OLD = "too_old"
    #: Dead: delivery is at most once, and an attempt had started or may have.
    AT_MOST_ONCE = "at_most_once"
    #: Cancelled by a person or a program.
    CANCELLED = "cancelled"
    #: Cancelled: the overlap policy `cancel_running` preferred a newer fire of the job.
    REPLACED = "replaced"
    #: Parked: no live worker can run it.
    NO_WORKER = "no_worker"
    #: Waiting or blocked: the rate of its job or key is used up.
    RATE = "rate"


#: Why an execution was cancelled where the policy `cancel_running` asked for it, and no person.
BY_NEWER_FIRE = "cancelled by a newer fire of the same job"
#: A plan that wants such a slot arms it again. Rows skipped as misfires were recalled:
#: see `domain.change.recall`.
TAKEN_BACK = frozenset({Reason.WITHDRAWN, Reason.MISFIRE})


class OutcomeKind(StrEnum):
    """How an attempt ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    #: Its worker went away, or its deadline passed without a report.
    LOST = "lost"
    #: Its worker gave it back unfinished, usually to shut down.
    RELEASED = "released"
    #: The handler asked to be called again later.
    SNOOZED = "snoozed"
    CANCELLED = "cancelled"
    #: Nothing started, since the job's `only_if` answered no. Nobody sees it as an attempt; on
    #: record it tells a report that is repeated from one that is stale.
    SKIPPED = "skipped"


@dataclass(slots=True, kw_only=True)
class NewExecution:
    """An execution to be recorded."""

    id: str
    job: Job
    kind: Kind
    #: The nominal instant that it belongs to; never moved by delay, jitter or retry.
    fire_time: int
    #: When it may start: the fire time, later with jitter.
    run_at: int
    rank: int
    overlap: Overlap
    #: None: the job's own payload.
    payload: Any = None
    #: The gate of its concurrency key or of its rate, and its limit there.
    gate: str | None = None
    limit: int = 0
    #: Unique in the job: the same request made twice is one run.
    key: str | None = None
    #: Which runs of the job are the same, and what follows if one is there.
    unique: Unique | None = None
    #: A slot that was skipped runs after all, under its own id.
    backfill: bool = False
    #: The dead execution that this one repeats with an edited payload.
    revived_from: str | None = None

    def put_off(self, requested_at: int) -> NewExecution:
        """The same request for a run that was first requested then."""
        run_at = self.run_at if self.unique is None else self.unique.due(self.run_at, requested_at)
        return replace(self, run_at=run_at, rank=self.rank - (self.run_at - run_at))

    def replaced_by(self, later: NewExecution, requested_at: int) -> NewExecution:
        """The run that this request makes, as a later one for the same wants it."""
        return replace(later.put_off(requested_at), id=self.id, fire_time=self.fire_time)

    def require_same_payload(self, id: str, payload: Any) -> None:
        """Refuse a key whose execution has another payload: it would be taken for this request."""
        if payload != self.payload:
            raise Conflict(
                f"key {self.key!r} belongs to execution {id} of job {self.job.name!r}, which has"
                " another payload; choose another key, or send the same payload"
            )


@dataclass(slots=True, kw_only=True)
class Attempt:
    """One try at an execution, ended."""

    number: int
    outcome: OutcomeKind
    worker: str | None
    started_at: int | None
    ended_at: int
    error: str | None = None
    #: What it returned; of a webhook the status, the headers and the body of the answer.
    result: Any = None

    @property
    def is_untried(self) -> bool:
        """Given back before anything started."""
        return self.outcome is OutcomeKind.RELEASED and self.started_at is None


def shown_attempts(recorded: Iterable[Attempt]) -> list[Attempt]:
    """What people see of the attempts on record: a condition that answered no is none."""
    return [each for each in recorded if each.outcome is not OutcomeKind.SKIPPED]


@dataclass(slots=True, kw_only=True)
class Execution:
    """One occurrence of a job, as people see it."""

    id: str
    project: str
    job_id: str
    #: The definition that it was made from, or restamped with by an edit.
    job_version: int
    kind: Kind
    state: State
    fire_time: int
    run_at: int
    queue: str
    ability: str
    created_at: int
    payload: Any = None
    key: str | None = None
    #: The fencing token: rises at every claim, never falls.
    attempt: int = 0
    #: Attempts that count against the retry budget.
    charged: int = 0
    lost: int = 0
    #: Attempts given back: released and snoozed.
    returned: int = 0
    #: Why it was skipped, cancelled or died.
    reason: str | None = None
    worker: str | None = None
    deadline: int | None = None
    cancel_requested: bool = False
    #: Of the attempt under way, on record a moment after its start; otherwise of the last one.
    started_at: int | None = None
    ended_at: int | None = None
    error: str | None = None
    result: Any = None
    revived_from: str | None = None
    #: In the answer to a request: whether that made it, or found it.
    is_new: bool = True
    #: Filled when one execution is read, not in lists; the last attempt is included once ended.
    attempts: list[Attempt] = field(default_factory=list)

    @property
    def is_untried(self) -> bool:
        """Pending, and no attempt has started: claims that were given back do not count."""
        return self.state in PENDING and not (self.charged or self.lost or self.returned)


@dataclass(slots=True)
class Claim:
    """A worker's right to one attempt. By position it is made in a third of the time."""

    id: str
    job: Job
    kind: Kind
    attempt: int
    charged: int
    lost: int
    returned: int
    fire_time: int
    run_at: int
    payload: Any
    #: Past it the attempt is lost, whatever the worker's pulse says.
    deadline: int
    worker: str
    claim_id: str
    #: Bytes, as JSON, of the payload that it brings itself; 0: it has its job's.
    size: int = 0
    #: Of an orphan: when its attempt started, if that is on record.
    started_at: int | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """An attempt that has started and is under way."""

    id: str
    attempt: int
    started_at: int


@dataclass(slots=True, kw_only=True)
class RangeSkip:
    """Fire times that were passed over together: the first, the last, and how many.

    None, if what is there has rows: no other range counts it.
    """

    job_id: str
    first: int
    last: int
    count: int
    reason: Reason
