"""Finds the jobs that have not succeeded for too long, at the cost of those whose time has come.

The evaluator remembers when each job last succeeded: the outcomes that processes note move that
on without a look at the store. Where the deadline comes all the same, the history of the job
decides. Jobs are found by listing the catalog, a page at a time.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from heapq import heappop, heappush
from typing import Protocol

from tickwell.clock import to_datetime
from tickwell.domain.alert import Observed, Rule
from tickwell.domain.execution import State
from tickwell.domain.job import Entry, JobState
from tickwell.domain.maintenance import MaintenanceWindow, expected_since
from tickwell.domain.policy import MINUTE
from tickwell.domain.trigger.moment import to_text
from tickwell.ports.records import ExecutionFilter, JobFilter
from tickwell.ports.store import CatalogStore, HistoryStore
from tickwell.services.alerts.outcomes import Ended
from tickwell.services.alerts.watched import is_watched
from tickwell.services.jobs.jobs_by_id import jobs_by_id

#: Jobs that one look lists, and whose history it reads.
PAGE, MOST_READ = 500, 500
#: Milliseconds until a job is looked at again that is missing, or that nobody expects to run.
_AGAIN, _PAUSED = MINUTE, 10 * MINUTE
#: The newest successes of a job that are looked at: one with an older id may have ended later.
_NEWEST = 5
_SUCCEEDED = frozenset({State.SUCCEEDED})
_STATES = frozenset({JobState.ACTIVE, JobState.PAUSED})


class WatchedStore(CatalogStore, HistoryStore, Protocol):
    """The part of a store that jobs are watched by."""


class MissingJobs:
    """The jobs of one rule, as one evaluator knows them."""

    def __init__(self, store: WatchedStore, project: str, rule: Rule) -> None:
        self._store = store
        self._project = project
        self._rule = rule
        #: By job: when it last succeeded as far as is known, or began to be expected to.
        self._since: dict[str, int] = {}
        self._looks: list[tuple[int, str]] = []
        self._cursor: str | None = None
        self._is_listed = False

    def behind(self, now: int) -> bool:
        """Whether another look has something to do at once."""
        return not self._is_listed or bool(self._looks and self._looks[0][0] <= now)

    async def look(
        self,
        ended: Mapping[str, Ended],
        not_well: Collection[str],
        windows: Sequence[MaintenanceWindow],
        now: int,
    ) -> dict[str, Observed | None]:
        """What is found out about jobs whose time has come, and those that are not well."""
        for job, each in ended.items():
            if each.succeeded_at and self._rule.job in {None, job}:
                self._learn(job, each.succeeded_at)
        await self._list()
        return await self._verify({*self._due(now), *not_well}, windows, now)

    async def _list(self) -> None:
        if self._rule.job is not None:
            found = await jobs_by_id(self._store, self._project, [self._rule.job])
            entries, self._cursor = [*found.values()], None
        else:
            where = JobFilter(project=self._project, states=_STATES)
            page = await self._store.list_jobs(where, self._cursor, PAGE)
            entries, self._cursor = page.items, page.cursor
        for entry in entries:
            self._learn(entry.job.id, _expected_since(entry))
        self._is_listed |= self._cursor is None

    def _learn(self, job: str, since: int) -> None:
        known = self._since.get(job)
        if known is None or known < since:
            self._since[job] = since
        if known is None:
            heappush(self._looks, (self._rule.due(since), job))

    def _due(self, now: int) -> set[str]:
        due = set[str]()
        while self._looks and self._looks[0][0] <= now and len(due) < MOST_READ:
            _, job = heappop(self._looks)
            since = self._since.get(job)
            if since is None:
                continue
            deadline = self._rule.due(since)
            if deadline > now:
                heappush(self._looks, (deadline, job))
            else:
                due.add(job)
        return due

    async def _verify(
        self, jobs: Collection[str], windows: Sequence[MaintenanceWindow], now: int
    ) -> dict[str, Observed | None]:
        try:
            entries = await jobs_by_id(self._store, self._project, jobs)
            return {job: await self._verified(job, entries.get(job), windows, now) for job in jobs}
        except BaseException:
            for job in jobs:  # look again once the store is back
                heappush(self._looks, (now, job))
            raise

    async def _verified(
        self,
        job: str,
        entry: Entry | None,
        windows: Sequence[MaintenanceWindow],
        now: int,
    ) -> Observed | None:
        if entry is None or entry.cursor.state is JobState.DELETED:
            self._since.pop(job, None)
            return None
        if not is_watched(entry):
            heappush(self._looks, (now + _PAUSED, job))
            return None
        where = ExecutionFilter(project=self._project, job_id=job, states=_SUCCEEDED)
        page = await self._store.list_executions(where, limit=_NEWEST)
        succeeded = max((each.ended_at or 0 for each in page.items), default=0)
        since = max(succeeded, _expected_since(entry))
        own = entry.job
        covering = [each for each in windows if each.covers(own.project, own.queue, own.tags)]
        if covering:
            since = expected_since(covering, own.trigger, since, now, self._rule.due)
        self._since[job] = since
        deadline = self._rule.due(since)
        if deadline > now:
            heappush(self._looks, (deadline, job))
            return None
        heappush(self._looks, (now + _AGAIN, job))
        last = f"; last at {to_text(to_datetime(succeeded))}" if succeeded else "; it never has"
        return observed(entry, f"{self._rule.words}{last}")


def observed(entry: Entry, text: str) -> Observed:
    """What is wrong with a job."""
    job = entry.job
    return Observed(job.name, text, queue=job.queue, tags=job.tags)


def _expected_since(entry: Entry) -> int:
    """A job that was resumed is given its time anew."""
    return max(entry.job.created_at, entry.cursor.paused_through or 0)
