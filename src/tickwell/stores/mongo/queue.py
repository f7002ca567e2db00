"""The hot path on MongoDB."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import Any

from tickwell.clock import NEVER
from tickwell.domain.execution import State
from tickwell.ports.records import Wakeup
from tickwell.stores.mongo.claiming import MongoClaiming
from tickwell.stores.mongo.codec import ADDING, QUEUED, RUNNING, WAITING
from tickwell.stores.mongo.database import Collection as Documents
from tickwell.stores.mongo.errors import edge
from tickwell.stores.mongo.finishing import MongoFinishing
from tickwell.stores.mongo.firing import MongoFiring
from tickwell.stores.mongo.promoting import MongoPromoting
from tickwell.stores.mongo.rows import Document
from tickwell.stores.mongo.settling import MongoSettling


class MongoQueue(MongoClaiming, MongoFinishing, MongoFiring, MongoPromoting, MongoSettling):
    """`ports.store.QueueStore`."""

    @edge
    async def settle(
        self, ids: Sequence[str], states: Collection[State], to: State, reason: str, now: int
    ) -> list[str]:
        return await self.on_rows(
            ids, now, lambda space, some: space.spec.settle(some, states, to, reason, now)
        )

    @edge
    async def next_wakeup(self, now: int, queues: Collection[str] | None = None) -> Wakeup:
        jobs, executions = self._database.jobs, self._database.executions
        unreadable = self.cache.unreadable
        readable: Document = {"job": {"$nin": unreadable.keys(now)}}
        planned: Document = {"_id": {"$nin": unreadable.keys(now, planning=True)}}
        run: dict[str, Any] = {"state": QUEUED, "run_at": {"$gt": now}}
        if queues is not None:
            run["queue"] = {"$in": [*queues]}
        fire, promote, expire, start = await asyncio.gather(
            _first(jobs, "next", {"next": {"$gt": 0}, "state": {"$gt": ADDING}, **planned}),
            _first(
                executions, "look_at", {"state": WAITING, "look_at": {"$lt": NEVER}, **readable}
            ),
            _first(
                executions,
                "expires_at",
                {"expires_at": {"$gt": 0}, "state": {"$lt": RUNNING}, **readable},
            ),
            _first(executions, "run_at", run),
        )
        return Wakeup(
            fire=fire, promote=promote, expire=expire, run=start, unreadable=unreadable.news()
        )


async def _first(collection: Documents, field: str, where: Document) -> int | None:
    """The smallest value of a field."""
    doc = await collection.find_one(where, {field: 1}, sort=[(field, 1)])
    return None if doc is None else int(doc[field])
