"""Verdicts: findings with a level, and the health that they add up to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class Level(StrEnum):
    """How bad it is. Red beats amber beats green."""

    GREEN = "green"
    #: Jobs run, but an operator should look.
    AMBER = "amber"
    #: Jobs do not run.
    RED = "red"

    @property
    def rank(self) -> int:
        """Higher is worse."""
        return _WORSE.index(self)


_WORSE = (Level.GREEN, Level.AMBER, Level.RED)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was checked, and what to do about it."""

    #: A stable name; docs/health.md lists all of them.
    check: str
    level: Level
    text: str
    remedy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessHealth:
    """How the engine of one process is."""

    ok: bool
    #: One sentence each; empty when the process works.
    problems: list[str] = field(default_factory=list)
    #: Lanes at full capacity for long, one sentence each: all that is due waits for them.
    full: list[str] = field(default_factory=list)
    #: Attempts in the worker's hands.
    in_hand: int = 0
    #: Outcomes that wait to be written.
    backlog: int = 0


#: Findings that keep one process from answering requests: only these make a probe fail.
PROBED = frozenset({"store", "process"})
#: Findings about what all projects share; a job's own settings cannot cause them.
SHARED = PROBED | {"planner", "workers", "clock", "redis", "broker"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """The verdict on one look: what every page, probe and command shows."""

    #: Everything that was checked, the worst first.
    findings: Sequence[Finding]
    #: Whether the store answers.
    database: bool
    #: Whether Redis answers; None: none is configured.
    redis: bool | None = None
    #: "running", "failing", or "stopped" when no planner is alive while jobs are due.
    scheduler_service: str = "running"
    #: The engine of the process that looked, if there is one.
    process: ProcessHealth | None = None
    #: The store's time of the look; None: the store did not answer.
    looked_at: int | None = None

    @property
    def level(self) -> Level:
        """That of the worst finding."""
        return worst(self.findings)

    @property
    def shared_level(self) -> Level:
        """The same without what a project's own jobs can cause: for callers without a key."""
        return worst([each for each in self.findings if each.check in SHARED])

    @property
    def shared_red(self) -> list[str]:
        """What is red of that, one sentence each."""
        red = (each for each in self.findings if each.level is Level.RED)
        return [each.text for each in red if each.check in SHARED]

    @property
    def ready(self) -> bool:
        """Whether this process can answer requests; what other processes lack does not matter."""
        return all(each.level is not Level.RED for each in self.findings if each.check in PROBED)

    @property
    def troubles(self) -> Sequence[Finding]:
        """What is not green, the worst first."""
        return [each for each in self.findings if each.level is not Level.GREEN]


def worst(findings: Sequence[Finding]) -> Level:
    """The level of the worst of them; green without any."""
    return max((each.level for each in findings), key=lambda level: level.rank, default=Level.GREEN)
