"""The hot path in memory."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence

from tickwell.clock import NEVER
from tickwell.domain.execution import PENDING, Claim, Reason, State
from tickwell.domain.job import Entry, Job
from tickwell.domain.planning import Plan
from tickwell.domain.policy import MINUTE
from tickwell.ports.records import ClaimRequest, Fired, Promoted, Wakeup
from tickwell.ports.store import Planner
from tickwell.stores.memory.liveness import MemoryLiveness
from tickwell.stores.memory.pending import PendingExecutions
from tickwell.stores.memory.reports import MemoryReports
from tickwell.stores.memory.tables import Row


class MemoryQueue(MemoryReports, MemoryLiveness):
    """`ports.store.QueueStore`. No method awaits anything, so each is atomic in its event loop."""

    async def fire_due(self, now: int, horizon: int, limit: int, plan: Planner) -> Fired:
        fired = Fired()
        for entry in self._due_jobs(now + horizon, limit):
            planned = plan(entry.job, entry.cursor)
            self._fire(entry.job, planned, fired, now, horizon)
            fired.more = fired.more or planned.more
        fired.more = fired.more or fired.jobs == limit
        return fired

    def _fire(self, job: Job, planned: Plan, fired: Fired, now: int, horizon: int) -> None:
        self.tables.put_entry(Entry(job, planned.cursor))
        recorded = self.flow.record_plan(job.id, planned, now, horizon)
        if planned.release_at is not None:
            PendingExecutions(self.flow, job).release(max(now, planned.release_at))
        fired.jobs += 1
        fired.executions += recorded
        fired.skipped += sum(skip.count for skip in planned.skips)

    def _due_jobs(self, end: int, limit: int) -> list[Entry]:
        heap, due = self.tables.due_jobs, dict[str, int]()
        while heap and heap[0][0] <= end and len(due) < limit:
            at, id = heapq.heappop(heap)
            if self._is_due_job(at, id):
                due[id] = at
        for id, at in due.items():  # should a plan fail, the job is still due
            heapq.heappush(heap, (at, id))
        return [self.tables.jobs[id] for id in due]

    async def promote(self, now: int, horizon: int, limit: int) -> Promoted:
        expired = self._expired(now, limit)
        for row in expired:
            self.flow.end(row, State.SKIPPED, Reason.TTL, now)
        waiting = self._waiting(now + horizon, limit)
        for row in waiting:
            # One that is looked at earlier may have cancelled it, or passed its permit on to it.
            if row.execution.state is State.WAITING:
                self.flow.admit(row, now, horizon)
        states = Counter(row.execution.state for row in waiting)
        return Promoted(
            queued=states[State.QUEUED],
            blocked=states[State.BLOCKED],
            skipped=states[State.SKIPPED] + len(expired),
            more=limit in {len(expired), len(waiting)},
        )

    def _expired(self, now: int, limit: int) -> list[Row]:
        heap, expired = self.tables.expiring, dict[str, Row]()
        while heap and heap[0][0] <= now and len(expired) < limit:
            at, id = heapq.heappop(heap)
            if self._is_expiring(at, id):
                expired[id] = self.tables.rows[id]
        return list(expired.values())

    def _waiting(self, end: int, limit: int) -> list[Row]:
        heap, due = self.tables.due_rows, dict[str, Row]()
        while heap and heap[0][0] <= end and len(due) < limit:
            at, id = heapq.heappop(heap)
            if self._is_waiting(at, id):
                due[id] = self.tables.rows[id]
        return list(due.values())

    async def claim(self, request: ClaimRequest) -> list[Claim]:
        liveness = self.tables.workers.get(request.worker)
        if liveness is None or liveness.lost:
            return []
        if request.repeated:
            mine = (row for row in self.running() if row.execution.worker == request.worker)
            held = [row for row in mine if row.claim_id == request.claim_id]
            if held:
                return [self.claim_of(row) for row in held]
        rows = heapq.nsmallest(
            request.limit,
            self._claimable(request),
            key=lambda row: (row.rank, row.execution.id),
        )
        return [self._hand_over(row, request) for row in rows]

    def _claimable(self, request: ClaimRequest) -> Iterator[Row]:
        for queue in dict.fromkeys(request.queues):
            # By rank and id, each once: what was queued, parked and queued again is there twice.
            seen = dict[tuple[int, str], None]()
            heap = self.tables.queues.get(queue, [])
            found = 0
            while heap and found < request.limit:
                entry = heapq.heappop(heap)
                row = self._queued(queue, *entry)
                if row is None or entry in seen:
                    continue
                seen[entry] = None
                if _is_claimable(row, request):
                    found += 1
                    yield row
            for entry in seen:
                heapq.heappush(heap, entry)

    def _queued(self, queue: str, rank: int, id: str) -> Row | None:
        row = self.tables.rows.get(id)
        if row is None or row.execution.state is not State.QUEUED:
            return None
        return row if row.rank == rank and row.execution.queue == queue else None

    def _hand_over(self, row: Row, request: ClaimRequest) -> Claim:
        execution = row.execution
        job = self.tables.jobs[execution.job_id].job
        execution.attempt += 1
        execution.charged += 1
        execution.worker = request.worker
        execution.deadline = max(request.now, execution.run_at) + job.timeout.hard + MINUTE
        row.claim_id, row.expires_at = request.claim_id, None
        self.tables.move(row, State.RUNNING)
        return self.claim_of(row)

    async def settle(
        self, ids: Sequence[str], states: Collection[State], to: State, reason: str, now: int
    ) -> list[str]:
        # Only what is parked can be told to wait again: the rest would lose its place.
        allowed = {State.PARKED} if to is State.WAITING else PENDING - {to}
        moved = []
        for id in ids:
            row = self.tables.rows.get(id)
            if row is None or row.execution.state not in allowed.intersection(states):
                continue
            moved.append(id)
            if to in PENDING:
                row.execution.reason = reason if to is State.PARKED else None
                self.tables.move(row, to)
                self.flow.release_key(row)
            else:
                self.flow.end(row, to, reason, now)
        return moved

    async def next_wakeup(self, now: int, queues: Collection[str] | None = None) -> Wakeup:
        return Wakeup(
            fire=self._top(self.tables.due_jobs, self._is_due_job),
            promote=self._top(self.tables.due_rows, self._is_waiting),
            expire=self._top(self.tables.expiring, self._is_expiring),
            run=min(self._run_times(now, queues), default=None),
        )

    def _run_times(self, now: int, queues: Collection[str] | None) -> Iterator[int]:
        for queue, heap in self.tables.queues.items():
            if queues is not None and queue not in queues:
                continue
            for rank, id in heap:
                row = self._queued(queue, rank, id)
                if row is not None and row.execution.run_at > now:
                    yield row.execution.run_at

    def _top(self, heap: list[tuple[int, str]], is_valid: Callable[[int, str], bool]) -> int | None:
        while heap and not is_valid(*heap[0]):
            heapq.heappop(heap)
        return heap[0][0] if heap else None

    def _is_due_job(self, at: int, id: str) -> bool:
        entry = self.tables.jobs.get(id)
        return entry is not None and entry.cursor.next_fire_time == at

    def _is_waiting(self, at: int, id: str) -> bool:
        row = self.tables.rows.get(id)
        if row is None or row.execution.state is not State.WAITING:
            return False
        return row.look_at == at != NEVER

    def _is_expiring(self, at: int, id: str) -> bool:
        row = self.tables.rows.get(id)
        return row is not None and row.execution.state in PENDING and row.expires_at == at


def _is_claimable(row: Row, request: ClaimRequest) -> bool:
    execution = row.execution
    if execution.run_at > request.now + request.lead:
        return False
    if row.expires_at is not None and row.expires_at <= request.now:
        return False
    if request.ids is not None and execution.id not in request.ids:
        return False
    return execution.ability in request.abilities
