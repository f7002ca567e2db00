"""Workers as the store knows them: one row and one beat per worker, whatever it runs."""

from __future__ import annotations

from dataclasses import dataclass, field

#: Milliseconds after which a worker that was not seen is not counted on.
SILENT = 60_000


@dataclass(frozen=True, slots=True)
class Refusal:
    """A job that a worker could run and may not: by its settings, or for want of a key."""

    #: The id of the job, and the version that was refused.
    job: str
    version: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """One incarnation of a worker: a restarted process is another one."""

    id: str
    host: str
    pid: int
    queues: tuple[str, ...]
    #: What it can run: the targets' abilities, as "call:send_report".
    abilities: tuple[str, ...]
    slots: int
    started_at: int
    #: Tells its process from all others of its machine; empty where nothing does.
    process: str = ""
    #: Jobs that it leaves to others.
    refusals: tuple[Refusal, ...] = ()


@dataclass(slots=True, kw_only=True)
class Liveness:
    """A worker and its last beat. Loss is judged by the beat number, never by `seen_at`."""

    worker: Worker
    beat: int
    seen_at: int
    lost: bool = False

    def is_counted_on(self, now: int) -> bool:
        """Whether it is likely to run what comes: a guess for people and starts, not for leases."""
        return not self.lost and now - self.seen_at < SILENT


@dataclass(slots=True, kw_only=True)
class Owned:
    """An attempt that the store says a worker holds."""

    id: str
    attempt: int
    claim_id: str
    cancel: bool
    #: Why it is to be cancelled; None: a person asked for it.
    why: str | None = None


@dataclass(slots=True, kw_only=True)
class Pulse:
    """What a beat answers."""

    #: Whose beat it was: the answer may come when that incarnation is over.
    worker: str
    beat: int
    #: Declared lost: the worker must end this incarnation; what it held runs elsewhere.
    lost: bool
    owned: list[Owned] = field(default_factory=list)
