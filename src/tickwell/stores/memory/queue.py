"""The hot path in memory."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence

from tickwell.clock import NEVER
from tickwell.domain.ability import is_able
from tickwell.domain.execution import PENDING, Claim, Reason, State
from tickwell.domain.policy import MINUTE
from tickwell.ports.records import Claimable, ClaimRequest, Promoted, Wakeup
from tickwell.stores.memory.claims import Claims
from tickwell.stores.memory.flow import Flow
from tickwell.stores.memory.tables import Row


class MemoryQueue:
    """The part of `ports.store.QueueStore` that moves executions to their workers.

    No method awaits anything, so each is atomic in its event loop.
    """

    def __init__(self, flow: Flow, claims: Claims) -> None:
        self.tables = flow.tables
        self.flow = flow
        self.claims = claims

    async def promote(self, now: int, horizon: int, limit: int) -> Promoted:
        expired = self._gather(self.tables.expiring, self._is_expiring, (now, now), limit)
        for row in expired:
            self.flow.end(row, State.SKIPPED, Reason.EXPIRED, now)
        waiting = self._gather(self.tables.due_rows, self._is_waiting, (now, now + horizon), limit)
        with self.flow.counting_ends() as ended:
            for row in waiting:
                # An earlier one may have cancelled it, or passed its permit on to it.
                if row.execution.state is State.WAITING:
                    self.flow.admit(row, now, horizon)
        states = Counter(row.execution.state for row in waiting)
        return Promoted(
            queued=states[State.QUEUED],
            blocked=states[State.BLOCKED],
            skipped=states[State.SKIPPED] + len(expired),
            expired=len(expired),
            ended=ended,
            more=limit in {len(expired), len(waiting)},
        )

    def _gather(
        self,
        heap: list[tuple[int, str]],
        is_valid: Callable[[int, str], bool],
        span: tuple[int, int],
        limit: int,
    ) -> list[Row]:
        """Take the first rows off a heap; those of jobs that cannot be read stay on it."""
        now, end = span
        found, passed = dict[str, Row](), list[tuple[int, str]]()
        while heap and heap[0][0] <= end and len(found) < limit:
            at, id = heapq.heappop(heap)
            if not is_valid(at, id):
                continue
            row = self.tables.rows[id]
            if self.claims.can_read(row.execution.job_id, now):
                found[id] = row
            else:
                passed.append((at, id))
        for entry in passed:
            heapq.heappush(heap, entry)
        return list(found.values())

    async def claim(self, request: ClaimRequest) -> list[Claim]:
        liveness = self.tables.workers.get(request.worker)
        if liveness is None or liveness.lost:
            return []
        if request.repeated:
            mine = (row for row in self.claims.running() if row.execution.worker == request.worker)
            held = [row for row in mine if row.claim_id == request.claim_id]
            if held:
                return self.claims.of(held, request.now)
        rows = heapq.nsmallest(
            request.limit,
            self._claimable(request),
            key=lambda row: (row.rank, row.execution.id),
        )
        claims, bytes = list[Claim](), 0
        for row in rows:
            if bytes >= request.most_bytes:
                break
            claims.append(self._hand_over(row, request))
            bytes += claims[-1].size
        return claims

    async def claimable(self, request: ClaimRequest) -> list[Claimable]:
        found = sorted(self._claimable(request), key=lambda row: (row.rank, row.execution.id))
        return [
            Claimable(row.execution.id, row.execution.queue, row.rank)
            for row in found[: request.limit]
        ]

    def _claimable(self, request: ClaimRequest) -> Iterator[Row]:
        for queue in dict.fromkeys(request.queues):
            # By rank and id, each once: one that was parked and queued again occurs twice.
            seen = dict[tuple[int, str], None]()
            heap = self.tables.queues.get(queue, [])
            found = 0
            while heap and found < request.limit:
                entry = heapq.heappop(heap)
                row = self._queued(queue, *entry)
                if row is None or entry in seen:
                    continue
                seen[entry] = None
                if row.execution.job_id in request.left_out:
                    continue
                if _is_claimable(row, request) and self.claims.can_read(
                    row.execution.job_id, request.now
                ):
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
        execution.worker, execution.started_at = request.worker, None
        execution.deadline = max(request.now, execution.run_at) + job.timeout.hard + MINUTE
        row.claim_id = request.claim_id
        self.tables.move(row, State.RUNNING)
        return self.claims.claim_of(row)

    async def settle(
        self, ids: Sequence[str], states: Collection[State], to: State, reason: str, now: int
    ) -> list[str]:
        # Only a parked execution may wait again: any other would lose its rank in the queue.
        allowed = {State.PARKED} if to is State.WAITING else PENDING - {to}
        allowed = allowed.intersection(states)
        rows = [self.tables.rows[id] for id in dict.fromkeys(ids) if id in self.tables.rows]
        # Chosen before any moves: one that ends may let another of them into the queue.
        chosen = [row for row in rows if row.execution.state in allowed]
        for row in chosen:
            if to in PENDING:
                row.execution.reason = reason if to is State.PARKED else None
                self.flow.leave(row, to, now)
            else:
                self.flow.end(row, to, reason, now)
        return [row.execution.id for row in chosen]

    async def next_wakeup(self, now: int, queues: Collection[str] | None = None) -> Wakeup:
        left_out = self.claims.unreadable.keys(now)
        not_planned = self.claims.unreadable.keys(now, planning=True)
        rows = {id for job in left_out for id in self.tables.by_job.get(job, ())}
        heaps = self.tables.due_jobs.values()
        fires = [self._top(heap, self.tables.is_due_job, not_planned) for heap in heaps]
        return Wakeup(
            fire=min((at for at in fires if at is not None), default=None),
            promote=self._top(self.tables.due_rows, self._is_waiting, rows),
            expire=self._top(self.tables.expiring, self._is_expiring, rows),
            run=min(self._run_times(now, queues), default=None),
            unreadable=self.claims.unreadable.news(),
        )

    def _run_times(self, now: int, queues: Collection[str] | None) -> Iterator[int]:
        for queue, heap in self.tables.queues.items():
            if queues is not None and queue not in queues:
                continue
            for rank, id in heap:
                row = self._queued(queue, rank, id)
                if row is not None and row.execution.run_at > now:
                    yield row.execution.run_at

    def _top(
        self,
        heap: list[tuple[int, str]],
        is_valid: Callable[[int, str], bool],
        left_out: Collection[str],
    ) -> int | None:
        while heap and not is_valid(*heap[0]):
            heapq.heappop(heap)
        if not left_out:
            return heap[0][0] if heap else None
        valid = (at for at, id in heap if id not in left_out and is_valid(at, id))
        return min(valid, default=None)

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
    return is_able(execution.ability, request.abilities)
