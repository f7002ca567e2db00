"""Processes as the store knows them: one row and one heartbeat each, whatever their roles."""

from __future__ import annotations

from dataclasses import dataclass, field

#: Milliseconds without a beat after which a starting process expects nothing of a worker.
SILENT = 60_000
#: Beats that a process may miss before health calls it gone. One late beat on a busy host is not
#: enough; with the default beat of 5 s a killed process is noticed after 10 s.
MISSED_BEATS = 2
#: The role of a process that serves the API; its engine does nothing for it.
API = "api"
#: The beat of a process whose row does not say.
DEFAULT_BEAT = 10_000
#: What a process may do: answer requests, fire due jobs, run executions.
ALL_ROLES = ("api", "planner", "worker")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A job that a worker could run and may not: by its settings, or for want of a key."""

    #: The id of the job, and the version that was refused.
    job: str
    version: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """One incarnation of a process: a restarted process is another one.

    Every process has a row. One without the worker role has no queues, abilities or capacity:
    it never counts as a process that can run work.
    """

    id: str
    host: str
    pid: int
    queues: tuple[str, ...]
    #: What it can run: the targets' abilities, as "call:send_report".
    abilities: tuple[str, ...]
    #: Attempts that it may run at once.
    capacity: int
    started_at: int
    #: Tells its process from all others of its machine; empty where nothing does.
    process: str = ""
    #: Jobs that it leaves to others.
    refusals: tuple[Refusal, ...] = ()
    #: Any of `ALL_ROLES`. A row of an older version has none: it is a worker.
    roles: tuple[str, ...] = ("worker",)
    #: The version of this package that it runs.
    version: str = ""
    #: Attempts that it ran at the last beat.
    busy: int = 0
    #: Milliseconds between two beats.
    beat_every: int = DEFAULT_BEAT
    #: Milliseconds by which its host's clock is ahead of the store's, beyond what the round trip
    #: explains; negative: behind.
    clock_offset: int = 0

    @property
    def is_worker(self) -> bool:
        """Whether it claims and runs executions."""
        return "worker" in self.roles

    @property
    def is_planner(self) -> bool:
        """Whether it fires due jobs."""
        return "planner" in self.roles


@dataclass(slots=True, kw_only=True)
class Liveness:
    """A worker and its last beat. Loss is judged by the beat number, never by `seen_at`."""

    worker: Worker
    beat: int
    seen_at: int
    lost: bool = False

    def is_counted_on(self, now: int) -> bool:
        """Whether it is likely to run what comes: a guess for people and starts, not for leases."""
        return not self.lost and abs(now - self.seen_at) < SILENT

    def is_alive(self, now: int) -> bool:
        """Whether its beats arrive, for health: leases are judged by the beat number instead."""
        return self.state(now) == "alive"

    def state(self, now: int) -> str:
        """Alive; silent, when beats are missing; lost, when another process has declared it so."""
        if self.lost:
            return "lost"
        # Also by a beat of the future, from before the store's clock was set back: one that ended
        # then would be alive for hours.
        is_silent = abs(now - self.seen_at) > MISSED_BEATS * self.worker.beat_every
        return "silent" if is_silent else "alive"


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
