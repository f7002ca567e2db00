"""When somebody has to act next."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tickwell.clock import NEVER
from tickwell.ports.records import Wakeup
from tickwell.stores.mysql.base import MysqlBase
from tickwell.stores.mysql.session import Session
from tickwell.stores.sql.server.liveness import ServerLiveness


class MysqlLiveness(MysqlBase, ServerLiveness):
    """The part of `ports.store.QueueStore` that is about workers and rests."""

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
