"""What MySQL and MariaDB do in several statements: the queue, documents, pruning."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from tickwell.clock import NEVER
from tickwell.domain.execution import Claim
from tickwell.errors import StoreError
from tickwell.ports.records import Claimable, ClaimRequest, Record, Wakeup
from tickwell.stores.mysql import claiming
from tickwell.stores.mysql.database import Database
from tickwell.stores.mysql.errors import is_taken
from tickwell.stores.mysql.session import Session
from tickwell.stores.sql.flow.pruning import SqlPruning
from tickwell.stores.sql.parts import Database as SqlDatabase
from tickwell.stores.sql.queue import SqlQueue
from tickwell.stores.sql.records import SqlRecords
from tickwell.stores.sql.rows.codec import clean
from tickwell.stores.sql.session import Session as SqlSession


class MysqlQueue(SqlQueue[Database]):
    """Moves executions to their workers."""

    async def promote_free(
        self, database: SqlDatabase, until: int, left_out: list[str], limit: int
    ) -> list[tuple[str, str, bool]]:
        async def work(session: SqlSession) -> list[tuple[str, str, bool]]:
            rows = await session.rows("promote", until, NEVER, left_out, limit)
            free = [id for id, _, is_free in rows if is_free]
            if free:
                await session.run("queue_free", free)
            return rows

        return await database.write(work)

    async def claim_new(self, request: ClaimRequest) -> list[Claim]:
        return await self.database.write(
            lambda session: claiming.claim(session, self.cache, request)
        )

    async def claimable(self, request: ClaimRequest) -> list[Claimable]:
        return await self.database.write_one(lambda session: claiming.look(session, request))

    async def next_wakeup(self, now: int, queues: Collection[str] | None = None) -> Wakeup:
        unreadable = self.cache.unreadable
        left_out = unreadable.keys(now, planning=True), unreadable.keys(now)

        async def work(session: Session) -> Any:
            names = await _queues(session) if queues is None else queues
            # A step of the index for each queue, which the server takes for values only.
            runs = [
                session.sql["next_run"].format(queue=session.written(name))
                for name in dict.fromkeys(names)
            ]
            text = session.sql["next_wakeup"].format(run=", ".join(runs) or "NULL")
            [row] = await session.query(text, NEVER, now, *left_out)
            return row

        fire, promote, expire, *runs = await self.database.write_one(work)
        run = min((run for run in runs if run is not None), default=None)
        news = unreadable.news()
        return Wakeup(fire=fire, promote=promote, expire=expire, run=run, unreadable=news)


async def _queues(session: Session) -> list[str]:
    """The queues that hold something, a step of the index for each."""
    found: list[str] = []
    while name := await session.value("next_queue", found[-1] if found else ""):
        found.append(name)
    return found


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


class MysqlPruning(SqlPruning[Database]):
    """Deletes what is past its retention, in short transactions."""

    async def drop_gates(self, limit: int) -> int:
        async def work(session: Session) -> int:
            free = [name for (name,) in await session.rows("free_gates", limit)]
            if free:
                await session.run("prune_gates", free)
            return len(free)

        return await self.database.write(work)
