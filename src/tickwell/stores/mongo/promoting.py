"""Promoting on MongoDB."""

from __future__ import annotations

from collections import Counter

from tickwell.domain.execution import State
from tickwell.ports.records import Promoted
from tickwell.stores.mongo.codec import RUNNING, WAITING
from tickwell.stores.mongo.errors import edge
from tickwell.stores.mongo.rows import Document
from tickwell.stores.mongo.sweeping import MongoSweeping
from tickwell.stores.mongo.workspace import Workspace

#: Executions that are to be looked at, with their jobs.
Found = dict[str, str]


class MongoPromoting(MongoSweeping):
    """The part of `ports.store.QueueStore` that moves what is pending on."""

    @edge
    async def promote(self, now: int, horizon: int, limit: int) -> Promoted:
        counts: Counter[State] = Counter()
        expired, waiting = set[str](), set[str]()
        while True:
            past = await self._past(now, limit - len(expired))
            due = await self._due_rows(now, now + horizon, limit - len(waiting))
            seen = await self._look_at(past | due, (now, horizon), counts)
            expired |= seen & set(past)
            waiting |= seen & set(due)
            if len(seen) == len(past | due):  # nobody else was faster
                break
        return Promoted(
            queued=counts[State.QUEUED],
            blocked=counts[State.BLOCKED],
            skipped=counts[State.SKIPPED],
            more=limit in {len(expired), len(waiting)},
        )

    async def _look_at(
        self, jobs: Found, span: tuple[int, int], counts: Counter[State]
    ) -> set[str]:
        """Let the specification promote these; which of them were still pending."""
        now, horizon = span
        seen: set[str] = set()

        def mine(space: Workspace) -> list[str]:
            return [id for id in jobs if jobs[id] in space.asked]

        async def fill(space: Workspace) -> None:
            ids = mine(space)
            await self.read_rows(space, ids)
            await self.read_gates(space, len(ids) + 2)

        async def do(space: Workspace) -> None:
            await space.spec.promote(now, horizon, len(jobs))

        def after(space: Workspace, missed: set[str], entered: set[str]) -> None:
            for id in mine(space):
                if jobs[id] in missed:
                    continue
                moved = space.moved(id)
                if moved is not None:
                    counts[State.QUEUED if id in entered else moved] += 1
                if moved is not None or jobs[id] in space.unreadable or space.is_waiting(id):
                    seen.add(id)

        await self.work(set(jobs.values()), now, fill, do, after)
        return seen

    async def _past(self, now: int, limit: int) -> Found:
        """What has passed its time to live."""
        where: Document = {"expires_at": {"$lte": now}, "state": {"$lt": RUNNING}}
        return await self._find(where, "expires_at", now, limit)

    async def _due_rows(self, now: int, end: int, limit: int) -> Found:
        return await self._find({"state": WAITING, "look_at": {"$lte": end}}, "look_at", now, limit)

    async def _find(self, where: Document, order: str, now: int, limit: int) -> Found:
        if limit < 1:
            return {}
        left_out = self.cache.unreadable.keys(now)
        if left_out:
            where["job"] = {"$nin": left_out}
        found = self._database.executions.find(
            where, {"job": 1}, sort=[(order, 1), ("_id", 1)], limit=limit
        )
        return {doc["_id"]: doc["job"] async for doc in found}
