"""Pauses of a project and of everything: begun, ended and read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from tickwell.clock import Clock
from tickwell.domain.fairness import PLATFORM_PROJECT
from tickwell.domain.job import Pause
from tickwell.domain.project_pause import (
    EVERYTHING,
    PROJECT_PAUSE_KIND,
    Phase,
    ProjectPause,
    covering,
    from_document,
    scope_of,
)
from tickwell.engine.planning.project_pauses import Aligned, follow, read_pauses, write_pause
from tickwell.errors import WrongState
from tickwell.ports.store import CatalogStore, HistoryStore, RecordStore
from tickwell.services.time import Moment, Time, end_of
from tickwell.services.ttl_cache import TtlCache

#: Milliseconds for which a job is added by what was read before; a planner reads as often.
_BRIEFLY = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pauses:
    """The pauses that a project is under."""

    #: Its own.
    project: Pause | None = None
    #: That of all projects, which goes before.
    platform: Pause | None = None


class ProjectPauseStore(CatalogStore, HistoryStore, RecordStore, Protocol):
    """The part of a store that these pauses need."""


class ProjectPausing:
    """Pauses and resumes a project, or `EVERYTHING`."""

    def __init__(self, store: ProjectPauseStore, clock: Clock, wake: Callable[[], None]) -> None:
        self.store = store
        self.clock = clock
        #: Called after a write, so that the loops of this process look at once.
        self.wake = wake

    async def pause(
        self, project: str, *, by: str, why: str = "", until: Moment | None = None
    ) -> tuple[Pause, Aligned]:
        """Stop all of its jobs from firing; asked for again, the newer pause counts.

        Answers once every job is paused. A process that dies before leaves that to another one.
        """
        now = self.clock.now()
        note = Pause(by=by, why=why, since=now, until=end_of(until, now), scope=scope_of(project))
        await write_pause(self.store, ProjectPause(project=project, pause=note), now)
        return note, await self._follow(project)

    async def resume(self, project: str) -> Aligned:
        """Let its jobs fire again from now on, but for those that are paused themselves."""
        while True:
            now = self.clock.now()
            found = await self.store.get_record(PROJECT_PAUSE_KIND, PLATFORM_PROJECT, project, now)
            pause = None if found is None else from_document(project, found.document)
            if found is None or pause is None or not pause.covers(project, now):
                subject = ("project", project)
                if project == EVERYTHING:
                    subject = ("platform", "all projects")
                raise WrongState(*subject, "not paused", "what is paused can be resumed")
            ended = replace(pause, phase=Phase.ENDING, ended_at=now)
            if await write_pause(self.store, ended, now, found.version):
                return await self._follow(project)

    async def get(self, project: str) -> Pauses:
        """The pauses that a project is under now."""
        now = self.clock.now()
        found = {
            each.project: each.pause
            for each in await read_pauses(self.store, now)
            if each.covers(project, now)
        }
        return Pauses(project=found.get(project), platform=found.get(EVERYTHING))

    async def _follow(self, project: str) -> Aligned:
        try:
            return await follow(self.store, self.clock, project)
        finally:
            self.wake()


class CoveringPauses:
    """The pause that a project's jobs follow, for services that change jobs."""

    def __init__(self, store: RecordStore, clock: Time) -> None:
        self._store = store
        self._clock = clock
        self._known: TtlCache[str, list[ProjectPause]] = TtlCache(clock, _BRIEFLY)

    async def now(self, project: str) -> Pause | None:
        """As of now."""
        self._known.forget(PROJECT_PAUSE_KIND)
        return await self.lately(project)

    async def lately(self, project: str) -> Pause | None:
        """As of the last second: what is added is looked at by planners, too."""
        found = await self._known.get(PROJECT_PAUSE_KIND, self._read)
        return covering(found, project, self._clock.now())

    async def _read(self) -> list[ProjectPause]:
        return await read_pauses(self._store, self._clock.now())
