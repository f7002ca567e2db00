"""The service's documents on Redis."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tickwell.ports.records import Record
from tickwell.stores.redis.client import Client
from tickwell.stores.redis.rows import dumps, present
from tickwell.stores.sql.rows.codec import clean


class RedisRecords:
    """`ports.store.RecordStore`."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def put_record(
        self, record: Record, now: int, expected_version: int | None = None
    ) -> bool:
        written = await self.client.call(
            "put_record",
            field_of(record.kind, record.project, record.key),
            now,
            "" if expected_version is None else expected_version,
            dumps(record.document),
            "" if record.expires_at is None else record.expires_at,
        )
        return bool(written)

    async def put_records(self, records: Sequence[Record], now: int) -> None:
        await self.client.call(
            "put_records",
            now,
            dumps([field_of(one.kind, one.project, one.key) for one in records]),
            dumps([dumps(one.document) for one in records]),
            dumps(present(one.expires_at for one in records)),
        )

    async def get_record(self, kind: str, project: str, key: str, now: int) -> Record | None:
        found = await self.client.call("get_record", field_of(kind, project, key))
        if found is None:
            return None
        record = record_of(kind, project, key, found)
        expired = record.expires_at is not None and record.expires_at <= now
        return None if expired else record

    async def list_records(
        self, kind: str, project: str, prefix: str, now: int, limit: int = 1000
    ) -> list[Record]:
        first = field_of(kind, project, prefix).encode()
        found = await self.client.call(
            "list_records", b"[" + first, b"(" + first + b"\xff", now, limit
        )
        return [
            record_of(kind, project, field.decode().split("\0", 2)[2], value)
            for field, value in zip(found[::2], found[1::2], strict=True)
        ]

    async def delete_record(self, kind: str, project: str, key: str) -> bool:
        return bool(await self.client.call("delete_record", field_of(kind, project, key)))


def field_of(kind: str, project: str, key: str) -> str:
    """Under which field of the hash a record is."""
    return "\0".join(clean(part) or "" for part in (kind, project, key))


def record_of(kind: str, project: str, key: str, value: bytes) -> Record:
    """The record of what is stored there."""
    version, expires_at, document = json.loads(value)
    return Record(
        kind=kind,
        project=project,
        key=key,
        document=document,
        version=version,
        expires_at=expires_at,
    )
