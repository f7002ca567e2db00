"""The service's documents on SQLite."""

from __future__ import annotations

from collections.abc import Sequence

from tickwell.ports.records import Record
from tickwell.stores.sql.documents import LAST, record_of
from tickwell.stores.sql.text import document_to_text
from tickwell.stores.sqlite.base import SqliteBase
from tickwell.stores.sqlite.session import Session


class SqliteRecords(SqliteBase):
    """`ports.store.RecordStore`."""

    async def put_record(
        self, record: Record, now: int, expected_version: int | None = None
    ) -> bool:
        head = record.kind, record.project, record.key
        document = document_to_text(record.document)

        def work(session: Session) -> bool:
            known = session.row("record", *head, now)
            version = known[4] if known else 0
            if expected_version is not None and expected_version != version:
                return False
            session.run("replace_record", *head, document, version + 1, record.expires_at)
            return True

        return await self.writer.call(work)

    async def put_records(self, records: Sequence[Record], now: int) -> None:
        rows = [
            (one.kind, one.project, one.key, document_to_text(one.document), one.expires_at, now)
            for one in records
        ]
        await self.writer.call(lambda session: session.many("put_records", rows))

    async def get_record(self, kind: str, project: str, key: str, now: int) -> Record | None:
        row = await self.reader.call(lambda session: session.row("record", kind, project, key, now))
        return None if row is None else record_of(row)

    async def list_records(
        self, kind: str, project: str, prefix: str, now: int, limit: int = 1000
    ) -> list[Record]:
        span = prefix, prefix + LAST
        rows = await self.reader.call(
            lambda session: session.rows("list_records", kind, project, *span, now, limit)
        )
        return [record_of(row) for row in rows]

    async def delete_record(self, kind: str, project: str, key: str) -> bool:
        return await self.writer.call(
            lambda session: session.run("delete_record", kind, project, key).rowcount > 0
        )
