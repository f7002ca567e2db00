"""The queue on PostgreSQL: what takes one statement here."""

from __future__ import annotations

from collections.abc import Collection

from tickwell.clock import NEVER
from tickwell.domain.execution import Claim
from tickwell.ports.records import Claimable, ClaimRequest, Wakeup
from tickwell.stores.postgres import claiming
from tickwell.stores.postgres.database import Database
from tickwell.stores.sql.server.queue import SqlQueue


class PostgresQueue(SqlQueue[Database]):
    """Moves executions to their workers."""

    async def promote_free(
        self, until: int, left_out: list[str], limit: int
    ) -> list[tuple[str, str, bool]]:
        rows = await self.database.single(
            lambda session: session.rows("promote", until, NEVER, left_out, limit)
        )
        return [(id, job, is_free) for id, job, is_free in rows]

    async def claim_new(self, request: ClaimRequest) -> list[Claim]:
        return await self.database.single(
            lambda session: claiming.claim(session, self.cache, request)
        )

    async def claimable(self, request: ClaimRequest) -> list[Claimable]:
        return await self.database.single(lambda session: claiming.look(session, request))

    async def next_wakeup(self, now: int, queues: Collection[str] | None = None) -> Wakeup:
        if queues is None:
            found = await self.database.single(lambda session: session.rows("queues"))
            queues = [name for (name,) in found]
        names, unreadable = list(queues), self.cache.unreadable
        left_out = unreadable.keys(now, planning=True), unreadable.keys(now)
        fire, promote, expire, run = await self.database.single(
            lambda session: session.row("next_wakeup", NEVER, now, names, *left_out)
        )
        news = unreadable.news()
        return Wakeup(fire=fire, promote=promote, expire=expire, run=run, unreadable=news)
