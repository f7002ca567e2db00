"""The service's documents on PostgreSQL."""

from __future__ import annotations

import json
from typing import Any

from tickwell.ports.records import Record
from tickwell.stores.postgres.base import PostgresBase
from tickwell.stores.postgres.text import clean

#: After every key that begins with what stands before it.
_LAST = "\U0010ffff"


class PostgresRecords(PostgresBase):
    """`ports.store.RecordStore`."""

    async def put_record(
        self, record: Record, now: int, expected_version: int | None = None
    ) -> bool:
        head = clean(record.kind), clean(record.project), clean(record.key)
        rest = json.dumps(record.document), record.expires_at, now, expected_version
        written = await self.database.single(
            lambda session: session.row("put_record", *head, *rest)
        )
        return written is not None

    async def get_record(self, kind: str, project: str, key: str, now: int) -> Record | None:
        head = clean(kind), clean(project), clean(key)
        row = await self.database.single(lambda session: session.row("record", *head, now))
        return None if row is None else _record(row)

    async def list_records(
        self, kind: str, project: str, prefix: str, now: int, limit: int = 1000
    ) -> list[Record]:
        begin = clean(prefix) or ""
        span = clean(kind), clean(project), begin, begin + _LAST
        rows = await self.database.single(
            lambda session: session.rows("list_records", *span, now, limit)
        )
        return [_record(row) for row in rows]

    async def delete_record(self, kind: str, project: str, key: str) -> bool:
        head = clean(kind), clean(project), clean(key)
        deleted = await self.database.single(lambda session: session.run("delete_record", *head))
        return deleted > 0


def _record(row: Any) -> Record:
    kind, project, key, document, version, expires_at = row
    return Record(
        kind=kind,
        project=project,
        key=key,
        document=json.loads(document),
        version=version,
        expires_at=expires_at,
    )
