"""Workers: beats, loss, what is left behind, and when somebody has to act next."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

from tickwell.clock import NEVER
from tickwell.domain.execution import Claim, Start
from tickwell.domain.worker import Liveness, Pulse, Worker
from tickwell.ports.records import Wakeup
from tickwell.stores.sql.workers import liveness_of, owned_of, worker_to_json
from tickwell.stores.sqlite.base import SqliteBase
from tickwell.stores.sqlite.claiming import claims_of
from tickwell.stores.sqlite.session import Session


class SqliteLiveness(SqliteBase):
    """The part of `ports.store.QueueStore` that is about workers and rests."""

    async def beat(self, worker: Worker, now: int, *, leaving: bool = False) -> Pulse:
        document = worker_to_json(worker)

        def work(session: Session) -> Pulse:
            beat, lost = session.rows("beat", worker.id, now, document)[0]
            owned = [owned_of(row) for row in session.rows("owned", worker.id)]
            if leaving and not owned:
                session.run("forget_worker", worker.id)
            return Pulse(worker=worker.id, beat=beat, lost=bool(lost), owned=owned)

        return await self.writer.call(work)

    async def declare_lost(self, worker_id: str, beat: int, now: int) -> bool:
        def work(session: Session) -> bool:
            session.run("declare_lost", worker_id, beat)
            return bool(session.row("is_lost", worker_id) in {None, (1,)})

        return await self.writer.call(work)

    async def orphans(self, now: int, limit: int) -> list[Claim]:
        left_out = json.dumps(self.cache.unreadable.keys(now))

        def work(session: Session) -> list[Claim]:
            rows = session.rows("orphans", now, left_out, limit)
            return claims_of(session, self.cache, rows, now)

        return await self.reader.call(work)

    async def record_starts(self, starts: Sequence[Start]) -> list[str]:
        def work(session: Session) -> list[str]:
            return [
                one.id
                for one in starts
                if session.run("record_start", one.started_at, one.id, one.attempt).rowcount
            ]

        return await self.writer.call(work)

    async def list_workers(self) -> list[Liveness]:
        rows = await self.reader.call(lambda session: session.rows("list_workers"))
        return [liveness_of(row) for row in rows]

    async def next_wakeup(self, now: int, queues: Collection[str] | None = None) -> Wakeup:
        unreadable = self.cache.unreadable
        left_out = json.dumps(unreadable.keys(now))
        not_planned = json.dumps(unreadable.keys(now, planning=True))

        def work(session: Session) -> Wakeup:
            if queues is None:
                run = session.value("next_run_anywhere", now)
            else:
                run = session.value("next_run", now, json.dumps(list(queues)))
            return Wakeup(
                fire=session.value("next_fire", not_planned),
                promote=session.value("next_look", NEVER, left_out),
                expire=session.value("next_expiry", left_out),
                run=run,
                unreadable=unreadable.news(),
            )

        return await self.reader.call(work)
