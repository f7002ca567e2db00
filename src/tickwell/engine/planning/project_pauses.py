"""Pauses of projects: what a planner knows of them, and how their jobs are made to follow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from tickwell.clock import Clock
from tickwell.domain.change import align
from tickwell.domain.execution import PENDING, State
from tickwell.domain.fairness import PLATFORM_PROJECT
from tickwell.domain.job import JobState, Pause
from tickwell.domain.project_pause import (
    EVERYTHING,
    PROJECT_PAUSE_KIND,
    SETTLES,
    Phase,
    ProjectPause,
    covering,
    from_document,
    to_document,
)
from tickwell.errors import NotFound
from tickwell.ports.records import ExecutionFilter, JobFilter, Record
from tickwell.ports.store import CatalogStore, HistoryStore, RecordStore

#: Seconds between two looks of a planner: a job that was added at the moment of a pause may fire
#: within as long.
LOOK = 1.0
#: Pauses that are read at once.
MOST = 10_000
#: Jobs and executions that one step of aligning reads.
_PAGE = 500
_UNFINISHED = PENDING | {State.RUNNING}


class PauseStore(CatalogStore, HistoryStore, RecordStore, Protocol):
    """The part of a store that these pauses need."""


class ProjectPauses:
    """Looks at the pauses once a second where there are none, else whenever a planner plans.

    A planner that has not heard of a resumption would hold the jobs anew.
    """

    def __init__(self, store: RecordStore, clock: Clock) -> None:
        self.store = store
        self.clock = clock
        self._known: Sequence[ProjectPause] = ()
        self._looked_at = float("-inf")

    async def look(self) -> None:
        """Read them, unless there were none just now."""
        if self._known or self.clock.monotonic() - self._looked_at >= LOOK:
            self._known = await read_pauses(self.store, self.clock.now())
            self._looked_at = self.clock.monotonic()

    def of(self, project: str, now: int, horizon: int) -> Pause | None:
        """The pause that the project's jobs follow, as of the last look.

        One that lasts beyond the horizon goes before one that ends within it: what that one held
        is not released ahead of its end.
        """
        if not self._known:
            return None
        beyond = covering(self._known, project, now + horizon)
        return beyond or covering(self._known, project, now)


async def read_pauses(store: RecordStore, now: int) -> list[ProjectPause]:
    """All pauses of projects, and the one of everything."""
    found = await store.list_records(PROJECT_PAUSE_KIND, PLATFORM_PROJECT, "", now, MOST)
    return [from_document(each.key, each.document) for each in found]


async def write_pause(
    store: RecordStore, pause: ProjectPause, now: int, expected_version: int | None = None
) -> bool:
    """Write the record of a pause."""
    record = Record(
        kind=PROJECT_PAUSE_KIND,
        project=PLATFORM_PROJECT,
        key=pause.project,
        document=to_document(pause),
        # Its jobs end it by themselves, at the same instant.
        expires_at=pause.pause.until,
    )
    return await store.put_record(record, now, expected_version)


@dataclass(slots=True, kw_only=True)
class Aligned:
    """What became of the jobs of a pause."""

    #: Executions taken back before a worker claimed them.
    withdrawn: int = 0
    #: Executions that a worker holds for their instant, asked to give up.
    cancelling: int = 0


async def follow(store: PauseStore, clock: Clock, project: str) -> Aligned:
    """Make all jobs of a project, or of all, follow the pauses that are in force.

    Once all of them do, the record of the pause says so. Several processes may do it at once, and
    one that dies leaves it to the reaper of another.
    """
    total = Aligned()
    while True:
        record = await store.get_record(PROJECT_PAUSE_KIND, PLATFORM_PROJECT, project, clock.now())
        pause = None if record is None else from_document(project, record.document)
        in_force = pause is not None and pause.phase is not Phase.ENDING
        if in_force:
            # First what is to run soon. A finished job may have its last run planned, or retried.
            await _align_all(store, clock, _with_work(store, project), total)
        states = {JobState.ACTIVE, JobState.PAUSED} if in_force else {JobState.PAUSED}
        await _align_all(store, clock, _jobs(store, project, states), total)
        if record is None or pause is None or pause.phase is not Phase.STARTING:
            return total
        done = replace(pause, phase=Phase.ON)
        if await write_pause(store, done, clock.now(), record.version):
            return total  # else it was changed or ended meanwhile: that has to be followed


async def complete(store: PauseStore, clock: Clock) -> None:
    """Do again what may have been broken off, or undone by a process that was behind."""
    now = clock.now()
    for each in await read_pauses(store, now):
        if each.phase is Phase.ON or each.changed_at + SETTLES > now:
            continue
        await follow(store, clock, each.project)
        if each.phase is Phase.ENDING:
            await _forget(store, each, clock.now())


async def _forget(store: RecordStore, pause: ProjectPause, now: int) -> None:
    """Let the record expire, unless somebody has paused the project again meanwhile."""
    found = await store.get_record(PROJECT_PAUSE_KIND, PLATFORM_PROJECT, pause.project, now)
    if found is not None and from_document(pause.project, found.document) == pause:
        gone = replace(pause, pause=replace(pause.pause, until=now))
        await write_pause(store, gone, now, found.version)


async def _align_all(
    store: PauseStore, clock: Clock, pages: AsyncIterator[Iterable[tuple[str, str]]], total: Aligned
) -> None:
    """Jobs by project and id, a page at a time."""
    async for page in pages:
        ids = defaultdict[str, dict[str, None]](dict)
        for project, id in page:
            ids[project][id] = None
        for project, several in ids.items():
            await _align(store, clock, project, [*several], total)


async def _align(
    store: PauseStore, clock: Clock, project: str, ids: Sequence[str], total: Aligned
) -> None:
    now = clock.now()
    changer = align(covering(await read_pauses(store, now), project, now))
    try:
        changed = await store.change_jobs(project, ids, changer, now)
    except NotFound:  # pruned meanwhile
        if len(ids) > 1:
            for id in ids:
                await _align(store, clock, project, [id], total)
        return
    total.withdrawn += sum(each.withdrawn for each in changed)
    total.cancelling += sum(each.cancelling for each in changed)


async def _with_work(store: HistoryStore, key: str) -> AsyncIterator[Iterable[tuple[str, str]]]:
    """The jobs of executions that wait, or that a worker may hold for their instant."""
    where, cursor = ExecutionFilter(project=_only(key), states=_UNFINISHED), None
    while True:
        page = await store.list_executions(where, cursor, _PAGE)
        yield [(each.project, each.job_id) for each in page.items]
        cursor = page.cursor
        if cursor is None:
            return


async def _jobs(
    store: CatalogStore, key: str, states: Collection[JobState]
) -> AsyncIterator[Iterable[tuple[str, str]]]:
    where, cursor = JobFilter(project=_only(key), states=frozenset(states)), None
    while True:
        page = await store.list_jobs(where, cursor, _PAGE)
        yield [(each.job.project, each.job.id) for each in page.items]
        cursor = page.cursor
        if cursor is None:
            return


def _only(key: str) -> str | None:
    """The project that a pause is of; None: all."""
    return None if key == EVERYTHING else key
