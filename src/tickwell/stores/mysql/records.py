"""The service's documents on MySQL and MariaDB."""

from __future__ import annotations

import json

from tickwell.errors import StoreError
from tickwell.ports.records import Record
from tickwell.stores.mysql.database import Database
from tickwell.stores.mysql.errors import is_taken
from tickwell.stores.mysql.session import Session
from tickwell.stores.sql.server.records import SqlRecords
from tickwell.stores.sql.text import clean


class MysqlRecords(SqlRecords[Database]):
    """`ports.store.RecordStore`."""

    async def put_record(
        self, record: Record, now: int, expected_version: int | None = None
    ) -> bool:
        head = clean(record.kind), clean(record.project), clean(record.key)
        document = json.dumps(record.document)

        async def work(session: Session) -> bool:
            known = await session.value("lock_record", *head, now)
            if expected_version not in {None, known or 0}:
                return False
            step = "insert_record" if known is None else "update_record"
            await session.run(step, *head, document, (known or 0) + 1, record.expires_at)
            return True

        try:
            return await self.database.write(work)
        except StoreError as error:
            if not is_taken(error.__cause__):
                raise
        # Somebody else made it at the same time: now it is there.
        return await self.database.write(work)
