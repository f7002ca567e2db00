"""What PostgreSQL does in its own way: jobs, the queue, pruning."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from tickwell.clock import NEVER
from tickwell.domain.execution import Claim
from tickwell.domain.job import Entry
from tickwell.errors import StoreError
from tickwell.ports.records import Claimable, ClaimRequest, Wakeup
from tickwell.stores.postgres import claiming
from tickwell.stores.postgres.database import Database
from tickwell.stores.postgres.errors import is_taken
from tickwell.stores.postgres.session import Session
from tickwell.stores.sql.catalog import SqlCatalog
from tickwell.stores.sql.flow.adding_jobs import job_row, moving_row
from tickwell.stores.sql.flow.locks import Locks
from tickwell.stores.sql.flow.pruning import SqlPruning
from tickwell.stores.sql.parts import Database as SqlDatabase
from tickwell.stores.sql.queue import SqlQueue


class PostgresCatalog(SqlCatalog[Database]):
    """`ports.store.CatalogStore`. Jobs that are all new take one statement instead of six."""

    async def _added(self, entries: Sequence[Entry], documents: list[str]) -> dict[str, Any]:
        rows = [
            (*job_row(entry.job, document), *moving_row(entry))
            for entry, document in zip(entries, documents, strict=True)
        ]
        try:
            found = await self.database.write_one(lambda session: session.many("add_jobs", rows))
        except StoreError as error:
            if not is_taken(error.__cause__):
                raise
        else:
            if not any(row["taken"] for row in found):
                return {}
        return await super()._added(entries, documents)


class PostgresQueue(SqlQueue[Database]):
    """Moves executions to their workers."""

    async def promote_free(
        self, database: SqlDatabase, until: int, left_out: list[str], limit: int
    ) -> list[tuple[str, str, bool]]:
        rows = await database.write_one(
            lambda session: session.rows("promote", until, NEVER, left_out, limit)
        )
        return [(id, job, is_free) for id, job, is_free in rows]

    async def claim_new(self, request: ClaimRequest) -> list[Claim]:
        return await self.database.write_one(
            lambda session: claiming.claim(session, self.cache, request)
        )

    async def claimable(self, request: ClaimRequest) -> list[Claimable]:
        return await self.database.write_one(lambda session: claiming.look(session, request))

    async def next_wakeup(self, now: int, queues: Collection[str] | None = None) -> Wakeup:
        if queues is None:
            found = await self.database.write_one(lambda session: session.rows("queues"))
            queues = [name for (name,) in found]
        names, unreadable = list(queues), self.cache.unreadable
        left_out = unreadable.keys(now, planning=True), unreadable.keys(now)
        fire, promote, expire, run = await self.database.write_one(
            lambda session: session.row("next_wakeup", NEVER, now, names, *left_out)
        )
        news = unreadable.news()
        return Wakeup(fire=fire, promote=promote, expire=expire, run=run, unreadable=news)


class PostgresPruning(SqlPruning[Database]):
    """Deletes what is past its retention, in short transactions."""

    async def prune(self, now: int, limit: int) -> int:
        while await self.database.write(lambda session: _count(session, limit)) >= limit:
            pass
        return await super().prune(now, limit)

    async def drop_gates(self, limit: int) -> int:
        return await self.database.write_one(lambda session: session.run("prune_gates", limit))


async def _count(session: Session, limit: int) -> int:
    """Have jobs count executions that were recorded without their locks; how many there were."""
    notes = [json.loads(text) for (text,) in await session.rows("take_uncounted", limit)]
    made = Counter(note["job"] for note in notes)
    prune_at = {note["job"]: note["prune_at"] for note in reversed(notes)}
    locks = Locks(session)
    await locks.jobs(made)
    await session.many(
        "count_made",
        [(made[job], head.holder, prune_at[job], job) for job, head in locks.heads.items()],
    )
    return len(notes)
