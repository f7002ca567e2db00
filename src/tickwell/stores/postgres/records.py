"""The service's documents on PostgreSQL."""

from __future__ import annotations

from tickwell.ports.records import Record
from tickwell.stores.postgres.base import PostgresBase
from tickwell.stores.sql.server.records import ServerRecords
from tickwell.stores.sql.text import clean, document_to_text


class PostgresRecords(PostgresBase, ServerRecords):
    """`ports.store.RecordStore`."""

    async def put_record(
        self, record: Record, now: int, expected_version: int | None = None
    ) -> bool:
        head = clean(record.kind), clean(record.project), clean(record.key)
        rest = document_to_text(record.document), record.expires_at, now, expected_version
        written = await self.database.single(
            lambda session: session.row("put_record", *head, *rest)
        )
        return written is not None
