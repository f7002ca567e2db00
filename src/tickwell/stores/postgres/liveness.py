"""When somebody has to act next."""

from __future__ import annotations

from collections.abc import Collection

from tickwell.clock import NEVER
from tickwell.ports.records import Wakeup
from tickwell.stores.postgres.base import PostgresBase
from tickwell.stores.sql.server.liveness import ServerLiveness


class PostgresLiveness(PostgresBase, ServerLiveness):
    """The part of `ports.store.QueueStore` that is about workers and rests."""

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
