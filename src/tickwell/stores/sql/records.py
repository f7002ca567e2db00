"""The service's documents."""

from __future__ import annotations

from collections.abc import Sequence

from tickwell.ports.records import Record
from tickwell.stores.sql.parts import D, Part
from tickwell.stores.sql.rows.codec import clean, document_to_text
from tickwell.stores.sql.rows.documents import LAST, record_of


class SqlRecords(Part[D]):
    """`ports.store.RecordStore`."""

    async def put_record(
        self, record: Record, now: int, expected_version: int | None = None
    ) -> bool:
        head = clean(record.kind), clean(record.project), clean(record.key)
        rest = document_to_text(record.document), record.expires_at, now, expected_version
        written = await self.database.write_one(
            lambda session: session.row("put_record", *head, *rest)
        )
        return written is not None

    async def put_records(self, records: Sequence[Record], now: int) -> None:
        # Each once, and by key: two who write the same wait for each other instead of deadlocking.
        rows = {
            head: (*head, document_to_text(one.document), one.expires_at)
            for one in records
            for head in [(clean(one.kind), clean(one.project), clean(one.key))]
        }
        ordered = [row for _, row in sorted(rows.items())]
        await self.database.write_one(lambda session: session.many("put_records", ordered, now))

    async def get_record(self, kind: str, project: str, key: str, now: int) -> Record | None:
        head = clean(kind), clean(project), clean(key)
        row = await self.database.read_one(lambda session: session.row("record", *head, now))
        return None if row is None else record_of(row)

    async def list_records(
        self, kind: str, project: str, prefix: str, now: int, limit: int = 1000
    ) -> list[Record]:
        begin = clean(prefix) or ""
        span = clean(kind), clean(project), begin, begin + LAST
        rows = await self.database.read_one(
            lambda session: session.rows("list_records", *span, now, limit)
        )
        return [record_of(row) for row in rows]

    async def delete_record(self, kind: str, project: str, key: str) -> bool:
        head = clean(kind), clean(project), clean(key)
        deleted = await self.database.write_one(lambda session: session.run("delete_record", *head))
        return deleted > 0
