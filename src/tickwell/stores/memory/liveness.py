"""Workers in memory: beats, loss, and what is left behind."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

from tickwell.domain.execution import Claim, Start, State
from tickwell.domain.worker import Liveness, Owned, Pulse, Worker
from tickwell.stores.memory.tables import Row, Tables, own
from tickwell.stores.sql.codec import to_json
from tickwell.stores.unreadable import UnreadableJobs


class MemoryLiveness:
    """The part of `ports.store.QueueStore` that is about workers."""

    tables: Tables
    unreadable: UnreadableJobs[str]

    async def beat(self, worker: Worker, now: int, *, leaving: bool = False) -> Pulse:
        known = self.tables.workers.get(worker.id)
        beat = known.beat + 1 if known else 1
        lost = known.lost if known else False
        self.tables.workers[worker.id] = Liveness(worker=worker, beat=beat, seen_at=now, lost=lost)
        owned = [
            Owned(
                id=row.execution.id,
                attempt=row.execution.attempt,
                claim_id=row.claim_id,
                cancel=row.execution.cancel_requested,
                why=row.execution.reason,
            )
            for row in self.running()
            if row.execution.worker == worker.id
        ]
        if leaving and not owned:
            del self.tables.workers[worker.id]
        return Pulse(worker=worker.id, beat=beat, lost=lost, owned=owned)

    async def declare_lost(self, worker_id: str, beat: int, now: int) -> bool:
        liveness = self.tables.workers.get(worker_id)
        if liveness is None:
            return True
        if liveness.beat == beat:
            liveness.lost = True
        return liveness.lost

    async def orphans(self, now: int, limit: int) -> list[Claim]:
        alive = {id for id, liveness in self.tables.workers.items() if not liveness.lost}
        rows = [
            row
            for row in self.running()
            if row.execution.worker not in alive or (row.execution.deadline or 0) < now
        ]
        left_out = self.unreadable.keys(now)
        rows = [row for row in rows if row.execution.job_id not in left_out]
        return self.claims_of(rows[:limit], now)

    async def record_starts(self, starts: Sequence[Start]) -> list[str]:
        written = []
        for one in starts:
            row = self.tables.rows.get(one.id)
            if row is None or row.execution.state is not State.RUNNING:
                continue
            if row.execution.attempt == one.attempt:
                row.execution.started_at = one.started_at
                written.append(one.id)
        return written

    async def list_workers(self) -> list[Liveness]:
        return [copy(self.tables.workers[id]) for id in sorted(self.tables.workers)]

    def running(self) -> list[Row]:
        """What is running, by id."""
        return [self.tables.rows[id] for id in sorted(self.tables.running)]

    def claims_of(self, rows: list[Row], now: int) -> list[Claim]:
        """Those whose jobs can be read."""
        readable = (row for row in rows if self.can_be_read(row.execution.job_id, now))
        return [self.claim_of(row) for row in readable]

    def can_be_read(self, job_id: str, now: int) -> bool:
        """Whether a job may be worked on; here that fails only by a definition that is broken."""
        try:
            return self.tables.jobs[job_id].job.trigger is not None
        except Exception as error:  # noqa: BLE001 - whatever it is, it concerns this job alone
            self.unreadable.add(job_id, job_id, error, now)
            return False

    def claim_of(self, row: Row) -> Claim:
        """A running execution as its worker knows it."""
        execution = row.execution
        job = self.tables.jobs[execution.job_id].job
        return Claim(
            id=execution.id,
            job=job,
            kind=execution.kind,
            attempt=execution.attempt,
            charged=execution.charged,
            lost=execution.lost,
            returned=execution.returned,
            fire_time=execution.fire_time,
            run_at=execution.run_at,
            payload=own(job.payload if execution.payload is None else execution.payload),
            deadline=execution.deadline or 0,
            worker=execution.worker or "",
            claim_id=row.claim_id,
            size=len(to_json(execution.payload) or ""),
            started_at=execution.started_at,
        )
