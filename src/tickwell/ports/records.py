"""What calls to the store take and answer, beyond the records of the domain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from tickwell.domain.ability import is_shared
from tickwell.domain.execution import Kind, RangeSkip, Reason, State
from tickwell.domain.job import JobState
from tickwell.domain.outcome import Report

T = TypeVar("T")

#: Executions that ended, by state, project and queue.
Ended = Counter[tuple[State, str, str]]

#: Bytes of payloads, as JSON, after which a claim ends: parsed they may take ten times as many.
CLAIM_BYTES = 16 * 1024 * 1024


@dataclass(slots=True, kw_only=True)
class Fired:
    """What one `fire_due` did."""

    #: Jobs whose cursor moved.
    jobs: int = 0
    executions: int = 0
    #: Fire times passed over, ranges counted in full.
    skipped: int = 0
    #: The same by reason.
    reasons: Counter[Reason] = field(default_factory=Counter)
    #: Executions that ended at the busy gate of their job: skipped, or cancelled for a newer one.
    ended: Ended = field(default_factory=Counter)
    #: The limit was reached: call again at once.
    more: bool = False

    def skip(self, skips: Iterable[RangeSkip]) -> None:
        """Count fire times that were passed over."""
        for skip in skips:
            self.skipped += skip.count
            self.reasons[skip.reason] += skip.count


@dataclass(slots=True, kw_only=True)
class Promoted:
    """What one `promote` did, in executions."""

    queued: int = 0
    blocked: int = 0
    skipped: int = 0
    #: Of those skipped, how many passed their time to live; the others met their overlap rule.
    expired: int = 0
    #: As in `Fired`. Also those that stood before the gate, and a newer one took their place.
    ended: Ended = field(default_factory=Counter)
    more: bool = False


@dataclass(slots=True, kw_only=True)
class ClaimRequest:
    """What a worker asks for."""

    worker: str
    #: Names this request: sent again after a lost reply, it returns the same claims.
    claim_id: str
    now: int
    #: Executions due within this many milliseconds may be claimed ahead of their instant.
    lead: int
    limit: int
    queues: tuple[str, ...]
    #: Those that are shared will do for all projects; see `tickwell.domain.ability`.
    abilities: frozenset[str]
    #: Sent before, without a reply.
    repeated: bool = False
    #: Only these executions.
    ids: tuple[str, ...] | None = None
    #: Ids of jobs that the worker leaves to others.
    left_out: tuple[str, ...] = ()
    #: Nothing more once the payloads that they bring themselves come to so many bytes of JSON.
    most_bytes: int = CLAIM_BYTES

    @property
    def shared(self) -> frozenset[str]:
        """The abilities that stand for those of all projects."""
        return frozenset(filter(is_shared, self.abilities))


@dataclass(frozen=True, slots=True)
class Claimable:
    """A queued execution that a claim would hand over now, unless another caller is faster."""

    id: str
    queue: str
    #: Its order among all queues; another one when it comes back to the queue.
    rank: int


@dataclass(slots=True, kw_only=True)
class Finished:
    """What one `finish` did."""

    #: Reports whose attempt no longer stands; nothing of them was written.
    refused: list[Report] = field(default_factory=list)
    #: Dead executions in a row, for jobs with `pause_after`.
    failures: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A job whose definition or cursor this process cannot read, or whose plan fails."""

    #: Its id.
    job: str
    why: str


@dataclass(frozen=True, slots=True)
class QueueLength:
    """How many executions a project has in one live state of a queue."""

    project: str
    queue: str
    state: State
    count: int
    #: Of these, how many are due by now.
    due: int

    @property
    def backlog(self) -> int:
        """How many are due and not running."""
        return 0 if self.state is State.RUNNING else self.due


@dataclass(slots=True, kw_only=True)
class Wakeup:
    """The earliest instants at which somebody has to act; None: nothing to come."""

    #: The first cursor to be looked at.
    fire: int | None = None
    #: The first pending execution to be promoted, or whose gate is to be looked at again.
    promote: int | None = None
    #: The first pending execution to pass its time to live.
    expire: int | None = None
    #: The first queued execution in the given queues to come due.
    run: int | None = None
    #: Jobs that calls through this handle had to leave out, each told once a minute at most.
    unreadable: list[Unreadable] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Page(Generic[T]):
    """A part of a list, and where the next part begins."""

    items: list[T]
    #: Pass it on to read further; None at the end.
    cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFilter:
    """Which jobs to list; deleted ones only when asked for."""

    project: str | None = None
    states: frozenset[JobState] = frozenset({JobState.ACTIVE, JobState.PAUSED, JobState.FINISHED})
    queue: str | None = None
    app: str | None = None
    tag: str | None = None
    #: A part of the name.
    search: str | None = None
    auto_remove: bool | None = None
    #: Only jobs that are to be looked at by this instant, the soonest first instead of by name.
    fires_before: int | None = None
    #: For callers that page on anyway: pass over no more than this many that do not match. A page
    #: may then have fewer items than asked for, or none, and still a cursor. Memory, which
    #: sorts all anyway, ignores it, as do SQLite and MongoDB for live executions.
    look: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionFilter:
    """Which executions to list."""

    project: str | None = None
    job_id: str | None = None
    states: frozenset[State] | None = None
    kind: Kind | None = None
    queue: str | None = None
    ability: str | None = None
    #: Fire times from, inclusive, and to, exclusive.
    since: int | None = None
    until: int | None = None
    #: Run times before this instant.
    due_before: int | None = None
    #: As for jobs.
    look: int | None = None


@dataclass(slots=True, kw_only=True)
class Record:
    """What the service keeps beside jobs: one document under (kind, project, key)."""

    kind: str
    project: str
    key: str
    document: Any
    version: int = 1
    expires_at: int | None = None


@dataclass(frozen=True, slots=True)
class Flaw:
    """What somebody changed in the store itself, and how it is put right."""

    text: str
    remedy: str
