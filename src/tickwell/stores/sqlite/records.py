"""The service's documents on SQLite."""

from __future__ import annotations

import json
from typing import Any

from tickwell.ports.records import Record
from tickwell.stores.sqlite.base import SqliteBase
from tickwell.stores.sqlite.session import Session

#: After every key that begins with what stands before it.
_LAST = "\U0010ffff"


class SqliteRecords(SqliteBase):
    """`ports.store.RecordStore`."""

    async def put_record(
        self, record: Record, now: int, expected_version: int | None = None
    ) -> bool:
        head = record.kind, record.project, record.key
        document = json.dumps(record.document)

        def work(session: Session) -> bool:
            known = session.row("record", *head, now)
            version = known[4] if known else 0
            if expected_version is not None and expected_version != version:
                return False
            session.run("replace_record", *head, document, version + 1, record.expires_at)
            return True

        return await self.writer.call(work)

    async def get_record(self, kind: str, project: str, key: str, now: int) -> Record | None:
        row = await self.reader.call(lambda session: session.row("record", kind, project, key, now))
        return None if row is None else _record(row)

    async def list_records(
        self, kind: str, project: str, prefix: str, now: int, limit: int = 1000
    ) -> list[Record]:
        span = prefix, prefix + _LAST
        rows = await self.reader.call(
            lambda session: session.rows("list_records", kind, project, *span, now, limit)
        )
        return [_record(row) for row in rows]

    async def delete_record(self, kind: str, project: str, key: str) -> bool:
        return await self.writer.call(
            lambda session: session.run("delete_record", kind, project, key).rowcount > 0
        )


def _record(row: tuple[Any, ...]) -> Record:
    kind, project, key, document, version, expires_at = row
    return Record(
        kind=kind,
        project=project,
        key=key,
        document=json.loads(document),
        version=version,
        expires_at=expires_at,
    )
