"""Workers: beats, loss, what is left behind, and when somebody has to act next."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

from tickwell.domain.execution import Claim, Start
from tickwell.domain.worker import Liveness, Pulse, Worker
from tickwell.ports.records import Wakeup
from tickwell.stores.redis.base import RedisBase
from tickwell.stores.redis.rows import claim_of, dumps
from tickwell.stores.sql.workers import liveness_of, owned_of, worker_to_json


class RedisLiveness(RedisBase):
    """The part of `ports.store.QueueStore` that is about workers and rests."""

    async def beat(self, worker: Worker, now: int, *, leaving: bool = False) -> Pulse:
        document = dumps(worker_to_json(worker))
        beat, lost, owned = await self.client.call("beat", now, worker.id, document, int(leaving))
        rows = [owned_of(row) for row in json.loads(owned)]
        return Pulse(worker=worker.id, beat=beat, lost=bool(lost), owned=rows)

    async def declare_lost(self, worker_id: str, beat: int, now: int) -> bool:
        return bool(await self.client.call("declare_lost", worker_id, beat))

    async def orphans(self, now: int, limit: int) -> list[Claim]:
        rows = await self.answer("orphans", now, limit, self.left_out(now))
        return await self.claims_of(rows, now)

    async def record_starts(self, starts: Sequence[Start]) -> list[str]:
        if not starts:
            return []
        columns = zip(*((one.id, one.attempt, one.started_at) for one in starts), strict=True)
        written: list[str] = await self.answer("record_starts", *map(dumps, columns))
        return written

    async def claims_of(self, rows: list[Any], now: int) -> list[Claim]:
        """The claims of rows, as far as their jobs can be read."""
        if not rows:
            return []
        jobs = await self.definitions([(row[1], row[13]) for row in rows], now)
        return [claim_of(row, jobs[row[1]]) for row in rows if row[1] in jobs]

    async def list_workers(self) -> list[Liveness]:
        rows = [json.loads(row) for row in await self.client.call("list_workers")]
        workers = [liveness_of((document, beat, seen, lost)) for beat, seen, lost, document in rows]
        return sorted(workers, key=lambda one: one.worker.id)

    async def next_wakeup(self, now: int, queues: Collection[str] | None = None) -> Wakeup:
        fire, promote, expire, run = await self.answer(
            "next_wakeup",
            now,
            dumps(False if queues is None else list(queues)),
            self.left_out(now, planning=True),
            self.left_out(now),
        )
        news = self.cache.unreadable.news()
        return Wakeup(fire=fire, promote=promote, expire=expire, run=run, unreadable=news)
