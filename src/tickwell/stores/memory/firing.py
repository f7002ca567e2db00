"""Firing in memory."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator
from itertools import islice

from tickwell.domain.job import Entry, Job
from tickwell.domain.planning import Plan
from tickwell.ports.records import Fired
from tickwell.ports.store import PlanMaker
from tickwell.stores.memory.claims import Claims
from tickwell.stores.memory.flow import Flow
from tickwell.stores.memory.pending import PendingExecutions

#: An instant with the id of what is due then.
At = tuple[int, str]


class MemoryFiring:
    """The part of `ports.store.QueueStore` that plans."""

    def __init__(self, flow: Flow, claims: Claims) -> None:
        self.tables = flow.tables
        self.flow = flow
        self.claims = claims

    async def fire_due(
        self, now: int, horizon: int, limit: int, plan: PlanMaker, *, round_robin: bool = False
    ) -> Fired:
        left_out = self.claims.unreadable.keys(now, planning=True)
        fired = Fired()
        if round_robin:
            due, fired.more = self._due_round_robin(now + horizon, limit, left_out)
        else:
            due = self._due_jobs(now + horizon, limit, left_out)
            fired.more = len(due) == limit
        for entry in due:
            if not self.claims.can_read(entry.job.id, now):
                continue
            try:
                planned = plan(entry.job, entry.cursor)
            except Exception as error:  # noqa: BLE001 - the other jobs are fired all the same
                self.claims.unreadable.add(entry.job.id, entry.job.id, error, now, planning=True)
                continue
            self._fire(entry.job, planned, fired, now, horizon)
            fired.more = fired.more or planned.more
        return fired

    def _fire(self, job: Job, planned: Plan, fired: Fired, now: int, horizon: int) -> None:
        self.tables.put_entry(Entry(job, planned.cursor))
        with self.flow.counting_ends() as ended:
            recorded = self.flow.record_plan(job.id, planned, now, horizon)
        fired.ended += ended
        if planned.release_at is not None:
            PendingExecutions(self.flow, job).release(max(now, planned.release_at))
        fired.jobs += 1
        fired.executions += recorded
        fired.skip(self.flow.record_skips(job, planned.skips))

    def _due_jobs(self, end: int, limit: int, left_out: Collection[str] = ()) -> list[Entry]:
        drawn = dict[At, list[At]]()
        heaps = self.tables.due_jobs.values()
        due = heapq.merge(*(self._draw(heap, end, left_out, drawn) for heap in heaps))
        return self._put_back(list(islice(due, limit)), drawn)

    def _due_round_robin(
        self, end: int, limit: int, left_out: Collection[str]
    ) -> tuple[list[Entry], bool]:
        """The jobs, and whether some project had all of its part."""
        heaps = [
            heap for _, heap in sorted(self.tables.due_jobs.items()) if self._is_due(heap, end)
        ]
        del heaps[limit:]
        drawn = dict[At, list[At]]()
        part = limit // max(len(heaps), 1)
        parts = [list(islice(self._draw(heap, end, left_out, drawn), part)) for heap in heaps]
        due = self._put_back([at for found in parts for at in found], drawn)
        return due, any(len(found) == part for found in parts)

    def _draw(
        self, heap: list[At], end: int, left_out: Collection[str], drawn: dict[At, list[At]]
    ) -> Iterator[At]:
        """Take what is due off a heap, oldest first, each once, noting where it came from."""
        while heap and heap[0][0] <= end:
            first = heapq.heappop(heap)
            if first not in drawn and self.tables.is_due_job(*first):
                drawn[first] = heap
                if first[1] not in left_out:
                    yield first

    def _put_back(self, due: list[At], drawn: dict[At, list[At]]) -> list[Entry]:
        """The jobs that are due; should a plan fail, they still are."""
        for at, heap in drawn.items():
            heapq.heappush(heap, at)
        return [self.tables.jobs[id] for _, id in due]

    def _is_due(self, heap: list[At], end: int) -> bool:
        while heap and not self.tables.is_due_job(*heap[0]):
            heapq.heappop(heap)
        return bool(heap) and heap[0][0] <= end
