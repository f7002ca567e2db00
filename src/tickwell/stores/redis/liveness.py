"""Workers on Redis: heartbeats, lost workers and their orphaned executions."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tickwell.domain.execution import Claim, Start
from tickwell.domain.worker import Liveness, Pulse, Worker
from tickwell.stores.redis.client import Client
from tickwell.stores.redis.rows import dumps
from tickwell.stores.sql.rows.executions import liveness_of, owned_of, worker_to_json


class RedisLiveness:
    """The part of `ports.store.QueueStore` that is about workers."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def beat(self, worker: Worker, now: int, *, leaving: bool = False) -> Pulse:
        document = dumps(worker_to_json(worker))
        beat, lost, owned = await self.client.call("beat", now, worker.id, document, int(leaving))
        rows = [owned_of(row) for row in json.loads(owned)]
        return Pulse(worker=worker.id, beat=beat, lost=bool(lost), owned=rows)

    async def declare_lost(self, worker_id: str, beat: int, now: int) -> bool:
        return bool(await self.client.call("declare_lost", worker_id, beat))

    async def orphans(self, now: int, limit: int) -> list[Claim]:
        rows = await self.client.answer("orphans", now, limit, self.client.left_out(now))
        return await self.client.claims(rows, now)

    async def record_starts(self, starts: Sequence[Start]) -> list[str]:
        if not starts:
            return []
        columns = zip(*((one.id, one.attempt, one.started_at) for one in starts), strict=True)
        written, wakes = await self.client.call("record_starts", *map(dumps, columns))
        if wakes:
            self.client.bell.ring()
        ids: list[str] = json.loads(written)
        return ids

    async def list_workers(self) -> list[Liveness]:
        rows = [json.loads(row) for row in await self.client.call("list_workers")]
        workers = [liveness_of((document, beat, seen, lost)) for beat, seen, lost, document in rows]
        return sorted(workers, key=lambda one: one.worker.id)
