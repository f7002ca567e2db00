"""Events: what the engine tells. Logs, metrics and hooks subscribe; the engine never logs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tickwell.domain.execution import NewExecution
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
    """A worker was silent for too long; what it ran is recovered."""

    worker: str


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
class JobPaused:
    """A policy paused a job, or a start did: the code declares it no more."""

    job: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOver:
    """A start recorded a declared job as finished: its trigger has no fire time left."""

    job: str


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
    | JobPaused
    | JobOver
    | ProcessEnded
    | ListenerFailed
)
Listener = Callable[[Event], None]


def projects_of(event: Event) -> frozenset[str] | None:
    """The projects that an event is about; None: it is about the process, and so everybody's.

    Events of a planner or an idle worker belong to no project: they only show activity.
    """
    if isinstance(event, AttemptsFinished | AttemptsFenced):
        return frozenset(report.claim.job.project for report in event.reports)
    if isinstance(event, Triggered):
        return frozenset(new.job.project for new in event.executions)
    if isinstance(event, Planned | Idle | JobPaused | JobUnreadable | Parked):
        return frozenset()
    return None


class Events:
    """Hands each event to every subscriber. Emitters on the hot path ask `wanted` first."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    @property
    def wanted(self) -> bool:
        """Whether anybody listens: an event object costs more than an attempt's bookkeeping."""
        return bool(self._listeners)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Hear every event from now on; call what is returned to hear no more."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def emit(self, event: Event) -> None:
        """Tell everybody. A listener that raises harms neither the engine nor its neighbours."""
        for listener in list(self._listeners):
            try:
                listener(event)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is the listener's
                if not isinstance(event, ListenerFailed):
                    name = getattr(listener, "__qualname__", repr(listener))
                    self.emit(ListenerFailed(listener=name, error=error))
