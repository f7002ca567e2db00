"""Finds the monitors that are down: of each it knows when that could be, and looks then."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from heapq import nsmallest
from typing import Protocol

from tickwell.clock import NEVER
from tickwell.domain.alert import Observed
from tickwell.domain.external import CHECK_INS
from tickwell.domain.job import Entry, JobState
from tickwell.domain.policy import MINUTE, SECOND
from tickwell.ports.records import JobFilter
from tickwell.ports.store import CatalogStore, HistoryStore, RecordStore
from tickwell.services.alerts.outcomes import Ended
from tickwell.services.alerts.watched import is_watched
from tickwell.services.every_record import every_record
from tickwell.services.jobs.jobs_by_id import jobs_by_id
from tickwell.services.monitors.state import Monitor, read_monitor
from tickwell.services.monitors.tokens import OWNER, PING_KEY

#: Monitors that one look reads.
MOST_READ = 500
#: Jobs of one page of the catalog.
_PAGE = 500
_STATES = frozenset({JobState.ACTIVE, JobState.PAUSED})
#: Milliseconds until a monitor is looked at again, at least and at most: it may be edited.
_SOONEST, _LATEST = SECOND, 10 * MINUTE


class MonitorStore(CatalogStore, HistoryStore, RecordStore, Protocol):
    """The part of a store that monitors are watched by."""


class MonitorsDown:
    """The monitors of one project, as one evaluator knows them."""

    def __init__(self, store: MonitorStore, project: str) -> None:
        self._store = store
        self._project = project
        #: When each is looked at again.
        self._looks: dict[str, int] = {}
        #: Those of the catalog, also those applied from a file without a ping URL; as of when.
        self._listed: set[str] = set()
        self._listed_at: int | None = None

    async def look(
        self, ended: Mapping[str, Ended], not_well: Collection[str], now: int
    ) -> dict[str, Observed | None]:
        """What is found out about monitors that may be down, and about those that are."""
        keys = {record.key async for record in every_record(self._store, OWNER, self._project, now)}
        await self._list(now)
        monitors = (keys - {PING_KEY}) | self._listed
        self._looks = {each: self._looks.get(each, 0) for each in monitors}
        due = [
            each
            for each, at in self._looks.items()
            # One later than any look can be is of a clock that was set back since.
            if not now < at <= now + _LATEST or _has_died(ended.get(each))
        ]
        jobs = {*nsmallest(MOST_READ, due, key=lambda each: self._looks[each]), *not_well}
        entries = await jobs_by_id(self._store, self._project, jobs)
        return {job: await self._see(job, entries.get(job), now) for job in jobs}

    async def _list(self, now: int) -> None:
        """List them now and then: the catalog is longer than the list of tokens."""
        if self._listed_at is not None and abs(now - self._listed_at) < _LATEST:
            return
        where = JobFilter(project=self._project, queue=CHECK_INS, states=_STATES)
        listed, cursor = set[str](), None
        while True:
            page = await self._store.list_jobs(where, cursor, _PAGE)
            listed |= {entry.job.id for entry in page.items}
            cursor = page.cursor
            if cursor is None:
                break
        self._listed, self._listed_at = listed, now

    async def _see(self, job: str, entry: Entry | None, now: int) -> Observed | None:
        if entry is None or not is_watched(entry):
            self._looks[job] = now + _LATEST
            return None
        monitor = await read_monitor(self._store, entry, now)
        self._looks[job] = min(max(_may_be_down_at(monitor), now + _SOONEST), now + _LATEST)
        why = monitor.why_down
        if why is None:
            return None
        return Observed(entry.job.name, why, queue=entry.job.queue, tags=entry.job.tags)


def _has_died(ended: Ended | None) -> bool:
    return ended is not None and ended.has_died


def _may_be_down_at(monitor: Monitor) -> int:
    due, grace = monitor.next_due, monitor.entry.job.expires or 0
    return min(NEVER if due is None else due + grace, monitor.missed_at or NEVER)
