"""Workers in memory: heartbeats, lost workers and their orphaned executions."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace

from tickwell.domain.execution import Claim, Start, State
from tickwell.domain.rate import is_rate, period_of
from tickwell.domain.worker import Liveness, Owned, Pulse, Worker
from tickwell.ports.records import Record
from tickwell.stores.memory.claims import Claims
from tickwell.stores.memory.flow import Flow
from tickwell.stores.memory.tables import Tables, own


class MemoryLiveness:
    """The part of `ports.store.QueueStore` that is about workers."""

    def __init__(self, flow: Flow, claims: Claims) -> None:
        self.tables = flow.tables
        self.flow = flow
        self.claims = claims

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
            for row in self.claims.running()
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
            for row in self.claims.running()
            if row.execution.worker not in alive or (row.execution.deadline or 0) < now
        ]
        left_out = self.claims.unreadable.keys(now)
        rows = [row for row in rows if row.execution.job_id not in left_out]
        return self.claims.of(rows[:limit], now)

    async def record_starts(self, starts: Sequence[Start]) -> list[str]:
        written = []
        for one in starts:
            row = self.tables.rows.get(one.id)
            if row is None or row.execution.state is not State.RUNNING:
                continue
            if row.execution.attempt == one.attempt:
                row.execution.started_at = one.started_at
                written.append(one.id)
                if row.holds_key and row.gate is not None and is_rate(row.gate):
                    row.permit_from = one.started_at + period_of(row.gate)
                    self.flow.give_way(row, row.gate, one.started_at)
        return written

    async def list_workers(self) -> list[Liveness]:
        return [copy(self.tables.workers[id]) for id in sorted(self.tables.workers)]


class MemoryRecords:
    """`ports.store.RecordStore`."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables

    async def put_record(
        self, record: Record, now: int, expected_version: int | None = None
    ) -> bool:
        known = await self.get_record(record.kind, record.project, record.key, now)
        version = known.version if known else 0
        if expected_version is not None and expected_version != version:
            return False
        key = record.kind, record.project, record.key
        self.tables.records[key] = replace(
            record, document=own(record.document), version=version + 1
        )
        return True

    async def put_records(self, records: Sequence[Record], now: int) -> None:
        for record in records:
            await self.put_record(record, now)

    async def get_record(self, kind: str, project: str, key: str, now: int) -> Record | None:
        record = self.tables.records.get((kind, project, key))
        return _copy(record) if record and not _is_expired(record, now) else None

    async def list_records(
        self, kind: str, project: str, prefix: str, now: int, limit: int = 1000
    ) -> list[Record]:
        keys = sorted(
            key
            for key, record in self.tables.records.items()
            if key[:2] == (kind, project)
            and key[2].startswith(prefix)
            and not _is_expired(record, now)
        )
        return [_copy(self.tables.records[key]) for key in keys[:limit]]

    async def delete_record(self, kind: str, project: str, key: str) -> bool:
        return self.tables.records.pop((kind, project, key), None) is not None


def _copy(record: Record) -> Record:
    return replace(record, document=own(record.document))


def _is_expired(record: Record, now: int) -> bool:
    return record.expires_at is not None and record.expires_at <= now
