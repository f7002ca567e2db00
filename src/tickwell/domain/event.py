"""Events: what the engine tells. Logs, metrics and hooks subscribe; the engine never logs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from tickwell.domain.execution import Claim, NewExecution, RangeSkip
from tickwell.domain.job import Job
from tickwell.domain.outcome import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """The engine runs."""

    worker: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """The engine has drained."""

    #: Attempts that were given back unfinished.
    released: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Idle:
    """The worker has nothing in hand, and there is nothing to claim; told once per rest."""

    worker: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFailed:
    """A step of a service failed; it is tried again after a rest."""

    service: str
    error: Exception
    failures: int
    rest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecovered:
    """A service that had failed works again."""

    service: str
    failures: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A planner answered fire times, or promoted what waited for its instant."""

    executions: int
    skipped: int
    #: Jobs whose fire times it answered.
    jobs: int = 0
    #: Executions that became claimable.
    promoted: int = 0
    #: Fire times and executions skipped, by reason.
    reasons: Mapping[str, int] = field(default_factory=dict)
    #: How long the step took.
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Triggered:
    """Executions were recorded: fire times that a planner answered, or runs that were requested.

    Where planners race on a store without row locks, two may tell of the same execution.
    """

    executions: Sequence[NewExecution]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobUnreadable:
    """This process cannot read a job, or cannot plan it; others go on. Once a minute at most."""

    #: Its id.
    job: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptsFinished:
    """Reports that the store took."""

    reports: Sequence[Report]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptsFenced:
    """Reports that the store refused: their attempts had been taken over."""

    reports: Sequence[Report]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerLost:
    """A process was silent for too long; what it ran is recovered."""

    worker: str
    host: str = ""
    pid: int = 0
    #: Empty: it supervised worker processes.
    roles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """Attempts of lost workers, or past their deadline, were taken back."""

    executions: Sequence[str]
    #: What became of them, as of attempts that their own worker reports.
    reports: Sequence[Report] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Parked:
    """No live worker can run these executions."""

    ability: str
    executions: int
    queue: str = "default"
    #: What is missing: a worker that serves the queue, or one that knows the handler.
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BacklogHeld:
    """Missed fires are held, as too many to catch up at once: a person decides about them."""

    project: str
    #: Jobs of the project that a planner's step held fires of.
    jobs: int
    #: Their fires.
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPaused:
    """A policy paused a job, or a start did: the code declares it no more."""

    #: Its name.
    job: str
    why: str
    #: Its id; empty if a start paused it.
    id: str = ""
    project: str = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOver:
    """A start recorded a declared job as finished: its trigger has no fire time left."""

    job: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptsStarted:
    """Handlers and requests of these claims begin now."""

    starts: Sequence[AttemptStart]


@dataclass(frozen=True, slots=True)
class AttemptStart:
    """One of them, and when."""

    claim: Claim
    started_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FiresSkipped:
    """Fire times were passed over, or executions of some were skipped."""

    skips: Sequence[tuple[Job, RangeSkip]]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobChanged:
    """A person or a program changed a job through this process."""

    #: Its name.
    job: str
    id: str
    project: str
    #: added, edited, paused, resumed, deleted, and of one occurrence skipped_ahead or unskipped.
    action: str
    #: Who paused it or skipped an occurrence; empty for other changes.
    by: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revived:
    """Dead executions run again under their ids."""

    project: str
    executions: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled:
    """Executions ended before an attempt did: by a request, with their job, or for a newer one."""

    project: str
    #: How many of each queue.
    queues: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessEnded:
    """A supervised worker process ended unasked; it is started anew after a rest."""

    pid: int
    #: The exit code; negative: the signal that ended it.
    code: int
    rest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenerFailed:
    """A subscriber raised; the others still hear everything."""

    listener: str
    error: Exception


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
#: Milliseconds after its instant from which on an attempt starts late.
LATE = 1_000
#: Made only while a listener has asked for them: attempts start by the thousand.
ON_REQUEST: frozenset[type] = frozenset({AttemptsStarted, FiresSkipped, JobChanged, Revived})


def projects_of(event: Event) -> frozenset[str] | None:
    """The projects that an event is about; None: it is about the process, and so everybody's.

    Events of a planner or an idle worker belong to no project: they only show activity.
    """
    if isinstance(event, AttemptsFinished | AttemptsFenced):
        return frozenset(report.claim.job.project for report in event.reports)
    if isinstance(event, Triggered):
        return frozenset(new.job.project for new in event.executions)
    if isinstance(event, JobChanged | Revived | Cancelled | JobPaused | BacklogHeld):
        return frozenset({event.project})
    if isinstance(event, Planned | AttemptsStarted | FiresSkipped | Idle | JobUnreadable | Parked):
        return frozenset()
    return None


class Events:
    """Hands each event to every subscriber. Emitters on the hot path ask `wanted` first."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self._asked: dict[type, list[Listener]] = {kind: [] for kind in ON_REQUEST}
        #: Whether a listener has asked for starts; read for each of them.
        self.wants_starts = False

    @property
    def wanted(self) -> bool:
        """Whether anybody listens: an event object costs more than an attempt's bookkeeping."""
        return bool(self._listeners)

    def wants(self, kind: type) -> bool:
        """Whether a listener has asked for events of a kind that is made on request only."""
        return bool(self._asked[kind])

    def subscribe(
        self, listener: Listener, also: Collection[type] = frozenset()
    ) -> Callable[[], None]:
        """Hear every event from now on, of those on request only `also` these.

        Call what is returned to hear no more.
        """
        heard = [self._listeners, *(self._asked[kind] for kind in also)]
        for each in heard:
            each.append(listener)
        self.wants_starts = self.wants(AttemptsStarted)

        def leave() -> None:
            for each in heard:
                each.remove(listener)
            self.wants_starts = self.wants(AttemptsStarted)

        return leave

    def emit(self, event: Event) -> None:
        """Tell everybody. A listener that raises harms neither the engine nor its neighbours."""
        for listener in list(self._asked.get(type(event), self._listeners)):
            try:
                listener(event)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is the listener's
                if not isinstance(event, ListenerFailed):
                    name = getattr(listener, "__qualname__", repr(listener))
                    self.emit(ListenerFailed(listener=name, error=error))
