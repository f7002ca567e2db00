"""The service's documents in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tickwell.ports.records import Record
from tickwell.stores.memory.tables import Tables, own


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
