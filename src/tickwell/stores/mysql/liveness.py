"""Workers: beats, loss, what is left behind, and when somebody has to act next."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tickwell.clock import NEVER
from tickwell.domain.execution import Claim
from tickwell.domain.worker import Liveness, Pulse, Worker
from tickwell.ports.records import Wakeup
from tickwell.stores.mysql.base import MysqlBase
from tickwell.stores.mysql.session import Session
from tickwell.stores.sql.server.claiming import claims_of
from tickwell.stores.sql.text import clean
from tickwell.stores.sql.workers import liveness_of, owned_of, worker_to_json


class MysqlLiveness(MysqlBase):
    """The part of `ports.store.QueueStore` that is about workers and rests."""

    async def beat(self, worker: Worker, now: int, *, leaving: bool = False) -> Pulse:
        document = worker_to_json(worker)

        async def work(session: Session) -> Pulse:
            beat, lost = await session.row("beat", clean(worker.id), now, document)
            owned = [owned_of(row) for row in await session.rows("owned", clean(worker.id))]
            if leaving and not owned:
                await session.run("forget_worker", clean(worker.id))
            return Pulse(worker=worker.id, beat=beat, lost=bool(lost), owned=owned)

        return await self.database.write(work)

    async def declare_lost(self, worker_id: str, beat: int, now: int) -> bool:
        async def work(session: Session) -> bool:
            await session.run("declare_lost", clean(worker_id), beat)
            # One that nobody knows is lost.
            return bool(await session.value("is_lost", clean(worker_id)) != 0)

        return await self.database.write(work)

    async def orphans(self, now: int, limit: int) -> list[Claim]:
        async def work(session: Session) -> list[Claim]:
            left_out = self.cache.unreadable.keys(now)
            rows = await session.rows("orphans", now, left_out, limit)
            return await claims_of(session, self.cache, rows, now)

        return await self.database.read(work)

    async def list_workers(self) -> list[Liveness]:
        rows = await self.database.single(lambda session: session.rows("list_workers"))
        return [liveness_of(row) for row in rows]

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
