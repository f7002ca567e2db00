"""The queue on MySQL and MariaDB: what takes several statements here."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tickwell.clock import NEVER
from tickwell.domain.execution import Claim
from tickwell.ports.records import Claimable, ClaimRequest, Wakeup
from tickwell.stores.mysql import claiming
from tickwell.stores.mysql.database import Database
from tickwell.stores.mysql.session import Session
from tickwell.stores.sql.server.queue import SqlQueue


class MysqlQueue(SqlQueue[Database]):
    """Moves executions to their workers."""

    async def promote_free(
        self, until: int, left_out: list[str], limit: int
    ) -> list[tuple[str, str, bool]]:
        async def work(session: Session) -> list[tuple[str, str, bool]]:
            rows = await session.rows("promote", until, NEVER, left_out, limit)
            free = [id for id, _, is_free in rows if is_free]
            if free:
                await session.run("queue_free", free)
            return rows

        return await self.database.write(work)

    async def claim_new(self, request: ClaimRequest) -> list[Claim]:
        return await self.database.write(
            lambda session: claiming.claim(session, self.cache, request)
        )

    async def claimable(self, request: ClaimRequest) -> list[Claimable]:
        return await self.database.single(lambda session: claiming.look(session, request))

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

        fire, promote, expire, *runs = await self.database.single(work)
        run = min((run for run in runs if run is not None), default=None)
        news = unreadable.news()
        return Wakeup(fire=fire, promote=promote, expire=expire, run=run, unreadable=news)


async def _queues(session: Session) -> list[str]:
    """The queues that hold something, a step of the index for each."""
    found: list[str] = []
    while name := await session.value("next_queue", found[-1] if found else ""):
        found.append(name)
    return found
