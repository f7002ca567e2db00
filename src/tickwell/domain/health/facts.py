"""Facts: what one look at the store, its processes and the servers beside it has found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date

from tickwell.domain.execution import Execution
from tickwell.domain.health.verdict import Level, ProcessHealth
from tickwell.domain.project_pause import ProjectPause
from tickwell.domain.queue import LaneLength
from tickwell.domain.worker import Liveness

#: Milliseconds after which due work that nothing has taken is reported. Planners and workers act
#: ahead of the instant, so a healthy system is nowhere near; with the age of a cached look and the
#: refresh of a page a person still reads it within 15 s.
LATE = 8_000
#: Milliseconds that due work may wait for free capacity before more workers are recommended.
WAITS_LONG = 60_000
#: Days before the last one of a calendar from which on it is reported.
ENDS_SOON = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkState:
    """A server besides the store, and whether it answers."""

    #: The name of its finding.
    check: str
    #: What findings call it.
    name: str
    #: Why it does not answer; None: it does.
    error: str | None
    #: The level while it does not, what that means for jobs, and what to do.
    level: Level
    effect: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """What all projects share."""

    #: What findings call the store.
    store: str
    #: Why the store does not answer; None: it does. Everything below is then unknown.
    error: str | None = None
    #: The store's time.
    now: int = 0
    #: The host of the process that looks, and by how much its clock is ahead of the store's.
    host: str = ""
    clock_offset: int = 0
    processes: Sequence[Liveness] = ()
    #: The earliest fire time of an active job, and the earliest run that a planner has to queue.
    fire: int | None = None
    promote: int | None = None
    #: Attempts under way, counted only while no process is alive that could run or recover them.
    orphans: int = 0
    #: What somebody changed in the store itself: a text and its remedy each.
    flaws: Sequence[tuple[str, str]] = ()
    links: Sequence[LinkState] = ()

    @property
    def due(self) -> int | None:
        """When a planner has to act next. With a live one, a busy gate may keep a run beyond it."""
        return min((each for each in (self.fire, self.promote) if each is not None), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class PausedQueue:
    """A queue that somebody paused, and how much is due in it."""

    name: str
    why: str
    backlog: int
    #: Whether there is more than was counted.
    more: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Executions that do not run, of one project or of all."""

    #: Every queue and ability whose best-ranked execution is parked, or has been due for longer
    #: than `LATE`.
    lanes: Sequence[LaneLength] = ()
    #: Executions of lanes that have workers, which may refuse them; a sample of each lane.
    refusable: Sequence[Execution] = ()
    #: The highest count of a lane: there may be more.
    limit: int = 0
    paused: Sequence[PausedQueue] = ()
    #: Pauses of these projects, and of everything.
    pauses: Sequence[ProjectPause] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarEnd:
    """A calendar that jobs use and that has no days for long."""

    name: str
    last_day: date
    #: Its public holidays can be computed again.
    has_country: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFacts:
    """What only concerns one project."""

    dead: int = 0
    #: Names of jobs that were paused since the code of their app has them no more.
    gone: Sequence[str] = ()
    calendars: Sequence[CalendarEnd] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All that health is judged by."""

    platform: Platform
    work: Work = field(default_factory=Work)
    project: ProjectFacts = field(default_factory=ProjectFacts)
    #: The engine of this process; None: it has none.
    process: ProcessHealth | None = None
