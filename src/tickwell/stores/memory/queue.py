"""The hot path in memory."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from tickwell.domain.execution import PENDING, Attempt, Claim, Reason, State
from tickwell.domain.job import Entry
from tickwell.domain.outcome import Report
from tickwell.domain.policy import MINUTE
from tickwell.ports.records import ClaimRequest, Finished, Fired, Promoted, Wakeup
from tickwell.ports.store import Planner
from tickwell.stores.memory.flow import Flow
from tickwell.stores.memory.liveness import MemoryLiveness
from tickwell.stores.memory.tables import Row


class MemoryQueue(MemoryLiveness):
    """`ports.store.QueueStore`. No method awaits anything, so each is atomic in its event loop."""

    flow: Flow

    async def fire_due(self, now: int, horizon: int, limit: int, plan: Planner) -> Fired:
        fired = Fired()
        for job_id in self._due_jobs(now + horizon, limit):
            entry = self.tables.jobs[job_id]
            planned = plan(entry.job, entry.cursor)
            self.tables.put_entry(Entry(entry.job, planned.cursor))
            self.tables.skips.setdefault(job_id, []).extend(planned.skips)
            fired.jobs += 1
            fired.executions += sum(
                self.flow.record(new, now, horizon) for new in planned.executions
            )
            fired.skipped += sum(skip.count for skip in planned.skips)
        fired.more = fired.jobs == limit
        return fired

    def _due_jobs(self, end: int, limit: int) -> list[str]:
        heap, due = self.tables.due_jobs, dict[str, None]()
        while heap and heap[0][0] <= end and len(due) < limit:
            at, id = heapq.heappop(heap)
            if self._is_due_job(at, id):
                due[id] = None
        return list(due)

    async def promote(self, now: int, horizon: int, limit: int) -> Promoted:
        promoted = Promoted()
        for row in self._expired(now, limit):
            self.flow.end(row, State.SKIPPED, Reason.TTL, now)
            promoted.skipped += 1
        looked_at = self._waiting(now + horizon, limit)
        for row in looked_at:
            self.flow.admit(row, now, horizon)
            state = row.execution.state
            promoted.queued += state is State.QUEUED
            promoted.blocked += state is State.BLOCKED
            promoted.skipped += state is State.SKIPPED
        promoted.more = len(looked_at) == limit
        return promoted

    def _expired(self, now: int, limit: int) -> Iterator[Row]:
        heap, left = self.tables.expiring, limit
        while heap and heap[0][0] <= now and left:
            at, id = heapq.heappop(heap)
            if self._is_expiring(at, id):
                left -= 1
                yield self.tables.rows[id]

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
            held = [row for row in self.running() if row.claim_id == request.claim_id]
            if held:
                return [self.claim_of(row) for row in held]
        rows = heapq.nsmallest(
            request.limit,
            self._claimable(request),
            key=lambda row: (row.rank, row.execution.id),
        )
        return [self._hand_over(row, request) for row in rows]

    def _claimable(self, request: ClaimRequest) -> Iterator[Row]:
        for queue in request.queues:
            kept = []
            heap = self.tables.queues.get(queue, [])
            found = 0
            while heap and found < request.limit:
                entry = heapq.heappop(heap)
                row = self.tables.rows.get(entry[1])
                if not row or row.execution.state is not State.QUEUED or row.rank != entry[0]:
                    continue
                kept.append(entry)
                if _is_claimable(row, request):
                    found += 1
                    yield row
            for entry in kept:
                heapq.heappush(heap, entry)

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

    async def finish(self, reports: Sequence[Report], now: int) -> Finished:
        finished = Finished()
        for report in reports:
            row = self.tables.rows.get(report.claim.id)
            if row is None or not self._stands(row, report):
                if row is None or not _was_applied(row, report):
                    finished.refused.append(report)
                continue
            self._apply(row, report, now)
            self._count_failures(report, finished)
        return finished

    def _stands(self, row: Row, report: Report) -> bool:
        execution = row.execution
        return execution.state is State.RUNNING and execution.attempt == report.claim.attempt

    def _apply(self, row: Row, report: Report, now: int) -> None:
        execution = row.execution
        execution.attempts.append(
            Attempt(
                number=execution.attempt,
                outcome=report.outcome,
                worker=execution.worker,
                started_at=report.started_at,
                ended_at=report.ended_at,
                error=report.error,
            )
        )
        execution.charged, execution.lost = report.charged, report.lost
        execution.returned = report.returned
        execution.started_at, execution.error = report.started_at, report.error
        execution.result, execution.deadline = report.result, None
        if report.state is not State.WAITING:
            self.flow.end(row, report.state, report.reason, report.ended_at)
            return
        execution.worker, execution.cancel_requested = None, False
        execution.run_at = row.look_at = report.run_at
        row.rank = report.rank
        self.tables.move(row, State.WAITING)
        self.flow.release_key(row)
        if report.run_at <= now:
            self.flow.admit(row, now, 0)

    def _count_failures(self, report: Report, finished: Finished) -> None:
        job = report.claim.job
        if job.pause_after is None or report.state not in {State.DEAD, State.SUCCEEDED}:
            return
        entry = self.tables.jobs[job.id]
        failures = entry.cursor.failures + 1 if report.state is State.DEAD else 0
        finished.failures[job.id] = failures
        self.tables.put_entry(Entry(entry.job, replace(entry.cursor, failures=failures)))

    async def settle(
        self, ids: Sequence[str], states: Collection[State], to: State, reason: str, now: int
    ) -> list[str]:
        moved = []
        for id in ids:
            row = self.tables.rows.get(id)
            if row is None or row.execution.state not in PENDING.intersection(states):
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
                row = self.tables.rows.get(id)
                if row and row.execution.state is State.QUEUED and row.rank == rank:
                    if row.execution.run_at > now:
                        yield row.execution.run_at

    def _top(
        self, heap: list[tuple[int, str]], is_valid: Callable[[int, str], bool]
    ) -> int | None:
        while heap and not is_valid(*heap[0]):
            heapq.heappop(heap)
        return heap[0][0] if heap else None

    def _is_due_job(self, at: int, id: str) -> bool:
        entry = self.tables.jobs.get(id)
        return entry is not None and entry.cursor.next_fire_time == at

    def _is_waiting(self, at: int, id: str) -> bool:
        row = self.tables.rows.get(id)
        return row is not None and row.execution.state is State.WAITING and row.look_at == at

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


def _was_applied(row: Row, report: Report) -> bool:
    """The reply to the same report was lost: its attempt is on record, ended at that instant."""
    return any(
        attempt.number == report.claim.attempt
        and attempt.ended_at == report.ended_at
        and attempt.outcome is report.outcome
        for attempt in row.execution.attempts
    )
