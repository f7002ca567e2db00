"""Jobs: the durable definition, and the cursor, which is what moves in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

from tickwell.domain.backlog import Backlog
from tickwell.domain.check_in import check_address
from tickwell.domain.coercion import (
    check_each,
    make_choice,
    make_durations,
    make_texts,
    require_kind,
    require_name,
    require_target,
    require_text,
    require_whole,
)
from tickwell.domain.condition import check_condition
from tickwell.domain.external import CHECK_INS, External
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.key_template import check_template
from tickwell.domain.policy import Delivery, Misfire, Retention, Retry, Timeout, policy_of
from tickwell.domain.rate import make_rate, rate_gate, read_rate
from tickwell.domain.target import Target
from tickwell.domain.trigger import Trigger
from tickwell.domain.unique import Uniqueness
from tickwell.errors import InvalidJob

#: Milliseconds of head start in the queue for each step of priority.
HEAD_START = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What to call, when, and by which policies."""

    #: A UUIDv7; never changes.
    id: str
    #: Unique in the project; people's word for the job.
    name: str
    trigger: Trigger
    target: Target
    #: The tenant that the job and all its records belong to.
    project: str = "default"
    #: The lane that workers subscribe to.
    queue: str = "default"
    #: JSON handed to the target; a requested run may bring its own.
    payload: Any = None
    #: 1 to 10; each step is a head start of ten seconds, so that nothing starves.
    priority: int = 5
    retry: Retry = field(default_factory=Retry)
    misfire: Misfire = field(default_factory=Misfire)
    overlap: Overlap = Overlap.SKIP
    concurrency: Concurrency | None = None
    #: At most so many starts in any period: "100/1m".
    rate: str | None = None
    #: What the rate counts: "{payload.customer}", for all jobs of the project with the same key.
    rate_key: str | None = None
    #: Asked before a fire runs, a handler by its name or a URL; a fire that it denies is skipped.
    only_if: str | None = None
    #: Where starts and ends of runs are reported: a URL as of healthchecks.io, or a DSN of Sentry.
    check_in: str | None = None
    #: A request makes no run while the same one is "pending", "running", or was requested within
    #: a duration: "24h".
    unless: str | None = None
    #: What makes two runs the same, in place of the whole payload: "{payload.customer}".
    unique_key: str | None = None
    #: Milliseconds: each request puts the same run off, and the newest payload wins.
    debounce: int | None = None
    #: Milliseconds after the first of these requests at which it runs whatever comes.
    debounce_max: int | None = None
    delivery: Delivery = Delivery.AT_LEAST_ONCE
    timeout: Timeout = field(default_factory=Timeout)
    #: A queued execution older than this many milliseconds is skipped instead of started.
    expires: int | None = None
    #: The job is paused after this many dead executions in a row.
    pause_after: int | None = None
    #: A finished job with nothing live is deleted.
    auto_remove: bool = False
    #: A second creation with the same key answers with this job instead of making another.
    dedupe_key: str | None = None
    retention: Retention = field(default_factory=Retention)
    #: The application whose code declares the job, if any.
    app: str | None = None
    #: A hash of the definition as that code gave it: tells a change of the code from an edit.
    declared: str | None = None
    description: str = ""
    tags: tuple[str, ...] = ()
    #: Counts definitions, never fires.
    version: int = 1
    #: From this instant on this version answers, the one before up to it: when it was saved.
    saved_at: int = 0
    created_at: int = 0

    def __post_init__(self) -> None:
        check_each(
            self._check_texts,
            self._check_parts,
            self._check_rate,
            self._check_condition,
            self._check_check_in,
            self._check_unique,
            self._check_priority,
            self._check_expires,
            self._check_failures,
        )

    def _check_texts(self) -> None:
        for name in ("name", "project", "queue"):
            require_name(self, name)
        for name in ("dedupe_key", "app", "description"):
            require_text(self, name)
        make_texts(self, "tags")

    def _check_parts(self) -> None:
        for name, kind in _KINDS.items():
            if not isinstance(getattr(self, name), kind):
                object.__setattr__(self, name, policy_of(name, getattr(self, name)))
            require_kind(self, name, kind)
        if self.concurrency is not None:
            require_kind(self, "concurrency", Concurrency)
        require_target(self)
        if isinstance(self.target, External) and self.queue != CHECK_INS:
            raise InvalidJob(
                f"must be {CHECK_INS!r} for a job that runs outside; got {self.queue!r}",
                field="queue",
                hint=f'Set queue="{CHECK_INS}"',
            )
        make_choice(self, "", "overlap", Overlap)
        make_choice(self, "", "delivery", Delivery)

    def _check_rate(self) -> None:
        if self.rate is not None:
            object.__setattr__(self, "rate", make_rate(self.rate))
        if self.rate_key is not None:
            check_template(self.rate_key, "rate_key")
            if self.rate is None:
                raise InvalidJob("needs a rate", field="rate_key", hint='Add rate="100/1m"')
        if self.rate is not None and self.concurrency is not None:
            raise InvalidJob(
                "a job has a rate or a concurrency key, not both",
                field="rate",
                hint="Leave one out, or limit the capacity of the workers of its queue",
            )

    def _check_condition(self) -> None:
        if self.only_if is not None:
            check_condition(self.only_if)

    def _check_check_in(self) -> None:
        if self.check_in is not None:
            check_address(self.check_in)

    def _check_unique(self) -> None:
        if all(getattr(self, name) is None for name in _UNIQUE):
            return
        made = Uniqueness(
            unless=self.unless,
            unique_key=self.unique_key,
            debounce=self.debounce,
            debounce_max=self.debounce_max,
        )
        for name in _UNIQUE:
            object.__setattr__(self, name, getattr(made, name))
        if isinstance(self.retention, Retention) and made.within > self.retention.age:
            raise InvalidJob(
                "is longer than the job's history is kept",
                field="unless",
                hint="Raise `retention.age`, or set a shorter duration",
            )

    def _check_priority(self) -> None:
        require_whole(self, "", "priority")
        if not 1 <= self.priority <= 10:
            raise InvalidJob(f"{self.priority} is not between 1 and 10", field="priority")

    def _check_expires(self) -> None:
        make_durations(self, "", "expires")
        if self.expires is not None and self.expires <= 0:
            raise InvalidJob("must be longer than 0", field="expires")

    def _check_failures(self) -> None:
        require_whole(self, "", "pause_after")
        if self.pause_after is not None and self.pause_after < 1:
            raise InvalidJob("the number of failures is 1 or more", field="pause_after")

    @property
    def ability(self) -> str:
        """What a worker must be able to do to run it; workers announce what they can."""
        return self.target.ability_in(self.project)

    def gate_of(self, payload: Any) -> tuple[str | None, int]:
        """The gate that an execution passes after its job's own, and its limit there.

        The payload is the one that it brings; without one, the job's.
        """
        if self.concurrency is None and self.rate is None:
            return None, 0
        effective = self.payload if payload is None else payload
        if self.concurrency is not None:
            return self.concurrency.gate(self.project, effective), self.concurrency.limit
        limit, period = read_rate(self.rate or "")
        return rate_gate(self, period, effective), limit


_UNIQUE = ("unless", "unique_key", "debounce", "debounce_max")
_KINDS = {
    "trigger": Trigger,
    "retry": Retry,
    "misfire": Misfire,
    "timeout": Timeout,
    "retention": Retention,
}


def copied(job: Job, **values: Any) -> Job:
    """The same job with other values that are good: `replace` would look at all of them again."""
    return filled(_copy(job), **values)


def filled(job: Job, **values: Any) -> Job:
    """This very job with other values that are good, while nobody else has it."""
    for name, value in values.items():
        _PUTS[name](job, value)
    return job


def copier(*names: str) -> Callable[..., Job]:
    """As `copied`, for many: takes the job, then values of these fields in this order.

    Written out as `dataclass` does: a loop takes twice as long.
    """
    own = {name: name for name in names}
    return _written("copy", ["job", *names], {each: own.get(each, f"job.{each}") for each in _PUTS})


def filler(*names: str) -> Callable[..., Job]:
    """As `filled`, for many: takes the job, then values of these fields in this order."""
    return _written("fill", ["to", *names], {name: name for name in names})


def _written(kind: str, parameters: list[str], values: Mapping[str, str]) -> Callable[..., Job]:
    lines = [f"    put_{name}(to, {value})" for name, value in values.items()]
    made = ["    to = new(Job)"] if kind == "copy" else []
    text = "\n".join([f"def {kind}({', '.join(parameters)}):", *made, *lines, "    return to"])
    names: dict[str, Any] = {f"put_{name}": _PUTS[name] for name in values}
    names |= {"Job": Job, "new": object.__new__}
    exec(text, names)  # noqa: S102 - the names of our own fields
    function: Callable[..., Job] = names[kind]
    return function


#: What sets each field, frozen or not.
_PUTS = {each.name: Job.__dict__[each.name].__set__ for each in fields(Job)}
_copy = copier()


def rank(run_at: int, priority: int) -> int:
    """The place in the queue, smallest first: due time minus the head start of the priority."""
    return run_at - priority * HEAD_START


class JobState(StrEnum):
    """Whether a job fires."""

    ACTIVE = "active"
    #: By a person or a policy; `Pause` says whom, why and until when.
    PAUSED = "paused"
    #: Its trigger has no further fire time.
    FINISHED = "finished"
    #: Gone for people; kept until its history is pruned.
    DELETED = "deleted"


#: Who paused a job where no person did, but its own policy or its target.
BY_POLICY = "policy"


class PauseScope(StrEnum):
    """What was paused: the job itself, its project, or everything."""

    JOB = "job"
    #: It ends with the pause of the project, and no earlier.
    PROJECT = "project"
    #: The same for the pause of all projects.
    PLATFORM = "platform"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """Who paused a job, why, since when and until when."""

    by: str
    why: str
    since: int
    until: int | None = None
    scope: PauseScope = PauseScope.JOB

    def lasts(self, now: int) -> bool:
        """Whether it has not ended by itself."""
        return self.until is None or self.until > now


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """What moves in a job. Stores keep it apart from the definition: it is small and hot."""

    state: JobState = JobState.ACTIVE
    #: When the planner has to look at the job; none when there is nothing to come,
    #: or when the next fire time counts from the end of a run that is still live.
    next_fire_time: int | None = None
    #: Every fire time up to here, inclusive, is answered.
    after: int = 0
    #: Executions made, for `max_runs`.
    runs: int = 0
    #: Dead executions in a row, for `pause_after`.
    failures: int = 0
    #: `next_fire_time` is a moment to look, not a fire time: compute it anew from `after`.
    nudged: bool = False
    #: Fire times up to here are skipped as paused; set by resuming.
    paused_through: int | None = None
    pause: Pause | None = None
    #: Fire times that a person skipped before they came, in order.
    skipped: tuple[int, ...] = ()
    #: Missed fire times that are held until a person decides about them. They lie before `after`.
    backlog: Backlog | None = None


@dataclass(slots=True)
class Entry:
    """A job with its cursor, as the catalog holds it."""

    job: Job
    cursor: Cursor
    #: The document of the definition, where somebody has made it: `document_of`.
    document: dict[str, Any] | None = field(default=None, compare=False, repr=False)
