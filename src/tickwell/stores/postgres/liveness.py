"""Workers: beats, loss, what is left behind, and when somebody has to act next."""

from __future__ import annotations

from collections.abc import Collection

from tickwell.clock import NEVER
from tickwell.domain.execution import Claim
from tickwell.domain.worker import Liveness, Pulse, Worker
from tickwell.ports.records import Wakeup
from tickwell.stores.postgres.base import PostgresBase
from tickwell.stores.postgres.session import Session
from tickwell.stores.sql.server.claiming import claims_of
from tickwell.stores.sql.text import clean
from tickwell.stores.sql.workers import liveness_of, owned_of, worker_to_json


class PostgresLiveness(PostgresBase):
    """The part of `ports.store.QueueStore` that is about workers and rests."""

    async def beat(self, worker: Worker, now: int, *, leaving: bool = False) -> Pulse:
        document = worker_to_json(worker)

        async def work(session: Session) -> Pulse:
            beat, lost = await session.row("beat", clean(worker.id), now, document)
            owned = [owned_of(row) for row in await session.rows("owned", clean(worker.id))]
            if leaving and not owned:
                await session.run("forget_worker", clean(worker.id))
            return Pulse(worker=worker.id, beat=beat, lost=lost, owned=owned)

        return await self.database.write(work)

    async def declare_lost(self, worker_id: str, beat: int, now: int) -> bool:
        async def work(session: Session) -> bool:
            await session.run("declare_lost", clean(worker_id), beat)
            # One that nobody knows is lost.
            return await session.value("is_lost", clean(worker_id)) is not False

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
