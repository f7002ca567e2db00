"""Maintenance windows: what a planner knows of them, and what it takes back for a new one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from tickwell.clock import Clock
from tickwell.domain.execution import PENDING, Execution, Kind, RangeSkip, Reason, State
from tickwell.domain.fairness import PLATFORM_PROJECT
from tickwell.domain.job import Job
from tickwell.domain.maintenance import (
    MAINTENANCE_KIND,
    Closed,
    MaintenanceWindow,
    from_document,
)
from tickwell.domain.project_pause import EVERYTHING, SETTLES
from tickwell.engine.planning.skipped_rows import skip_of
from tickwell.errors import InvalidTrigger
from tickwell.ports.records import ExecutionFilter, Record
from tickwell.ports.store import CatalogStore, HistoryStore, QueueStore, RecordStore

#: Seconds between two looks of a planner: what is due sooner after a window was saved may fire.
LOOK = 1.0
#: Windows that are read at once.
MOST = 10_000
#: Executions of one page.
_PAGE = 500


class MaintenanceStore(CatalogStore, HistoryStore, QueueStore, RecordStore, Protocol):
    """The part of a store that windows need."""


class MaintenanceWindows:
    """Looks at the windows once a second, however often a planner plans."""

    def __init__(self, store: MaintenanceStore, clock: Clock) -> None:
        self.store = store
        self.clock = clock
        self._closed = Closed(())
        #: By key, with the version that was read: a window is read once.
        self._known: dict[str, tuple[int, MaintenanceWindow | None]] = {}
        self._looked_at = float("-inf")

    async def look(self) -> Sequence[tuple[Job, RangeSkip]]:
        """Read them, and take back what was planned before they were saved: those skips."""
        if self.clock.monotonic() - self._looked_at < LOOK:
            return ()
        now = self.clock.now()
        found = await read_records(self.store, now)
        if found or self._known:
            known = self._known
            self._known = {
                each.key: known[each.key]
                if each.key in known and known[each.key][0] == each.version
                else (each.version, _read(each))
                for each in found
            }
            windows = [window for _, window in self._known.values() if window is not None]
            self._closed = Closed(windows)
        self._looked_at = self.clock.monotonic()
        # A planner that had not heard of one may have planned into it meanwhile.
        fresh = [each for each in self._closed.windows if now - each.changed_at < SETTLES]
        return await take_back(self.store, fresh, now) if fresh else ()

    def of(self, job: Job) -> Callable[[int], bool] | None:
        """Whether fire times of a job lie in windows; None: no window covers it."""
        return self._closed.of(job) if self._known else None


async def read_records(store: RecordStore, now: int, prefix: str = "") -> list[Record]:
    """The records of windows, those that are over included."""
    return await store.list_records(MAINTENANCE_KIND, PLATFORM_PROJECT, prefix, now, MOST)


async def read_windows(store: RecordStore, now: int) -> list[MaintenanceWindow]:
    """All windows, those that are over included."""
    found = await read_records(store, now)
    return [window for each in found if (window := _read(each)) is not None]


def _read(record: Record) -> MaintenanceWindow | None:
    """None: during an upgrade, a newer version saved a trigger that this one does not know."""
    try:
        return from_document(record.key, record.document)
    except InvalidTrigger:
        return None


async def windows_of(store: RecordStore, project: str, now: int) -> list[MaintenanceWindow]:
    """Those that may cover jobs of a project."""
    return [
        each for each in await read_windows(store, now) if each.project in {EVERYTHING, project}
    ]


async def take_back(
    store: MaintenanceStore, windows: Collection[MaintenanceWindow], now: int
) -> list[tuple[Job, RangeSkip]]:
    """Skip fires in windows that are on or begin soon, which no worker has claimed yet.

    They were planned ahead by those who did not know of the window.
    """
    taken = list[tuple[Job, RangeSkip]]()
    for window in windows:
        span = window.span(now)
        if span is None or span.start > now + SETTLES:
            continue
        where = ExecutionFilter(
            project=None if window.project == EVERYTHING else window.project,
            states=PENDING,
            kind=Kind.FIRE,
            since=span.start,
            until=span.end,
        )
        cursor = None
        while True:
            page = await store.list_executions(where, cursor, _PAGE)
            untried = [each for each in page.items if not each.attempt]
            taken += await _skip(store, window, untried, now)
            cursor = page.cursor
            if cursor is None:
                break
    return taken


async def _skip(
    store: MaintenanceStore,
    window: MaintenanceWindow,
    executions: Sequence[Execution],
    now: int,
) -> list[tuple[Job, RangeSkip]]:
    jobs: dict[str, Job] = {}
    for project in {each.project for each in executions}:
        ids = sorted({each.job_id for each in executions if each.project == project})
        jobs |= {entry.job.id: entry.job for entry in await store.get_jobs(project, ids)}
    covered = {
        each.id: each
        for each in executions
        if (job := jobs.get(each.job_id)) is not None
        and window.covers(job.project, job.queue, job.tags)
    }
    if not covered:
        return []
    reason = Reason.MAINTENANCE
    settled = await store.settle([*covered], PENDING, State.SKIPPED, reason, now)
    return [
        (jobs[each.job_id], skip_of(each.job_id, each.fire_time, reason))
        for each in map(covered.__getitem__, settled)
    ]
