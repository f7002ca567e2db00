"""Promoting on MongoDB."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial

from tickwell.domain.execution import PENDING, Reason, State
from tickwell.ports.records import Promoted
from tickwell.stores.memory.tables import Row
from tickwell.stores.mongo.codec import RUNNING, WAITING
from tickwell.stores.mongo.errors import edge
from tickwell.stores.mongo.rows import Document
from tickwell.stores.mongo.sweeping import MongoSweeping
from tickwell.stores.mongo.workspace import Workspace

#: Executions that are to be looked at, with their jobs.
Found = dict[str, str]
Find = Callable[[int], Awaitable[Found]]
Step = Callable[[Workspace, Row], None]


class MongoPromoting(MongoSweeping):
    """The part of `ports.store.QueueStore` that moves what is pending on."""

    @edge
    async def promote(self, now: int, horizon: int, limit: int) -> Promoted:
        counts: Counter[State] = Counter()

        def expire(space: Workspace, row: Row) -> None:
            is_past = row.expires_at is not None and row.expires_at <= now
            if is_past and row.execution.state in PENDING:
                space.flow.end(row, State.SKIPPED, Reason.TTL, now)

        def admit(space: Workspace, row: Row) -> None:
            # One that is looked at earlier may have cancelled it, or passed its permit on to it.
            if row.execution.state is State.WAITING and row.look_at <= now + horizon:
                space.flow.admit(row, now, horizon)

        expired = await self._all(limit, partial(self._past, now), expire, now, counts)
        ended = counts[State.SKIPPED]
        due = partial(self._due_rows, now, now + horizon)
        waiting = await self._all(limit, due, admit, now, counts)
        return Promoted(
            queued=counts[State.QUEUED],
            blocked=counts[State.BLOCKED],
            skipped=counts[State.SKIPPED],
            expired=ended,
            more=limit in {expired, waiting},
        )

    async def _all(
        self, limit: int, find: Find, step: Step, now: int, counts: Counter[State]
    ) -> int:
        """Look at what is found; where others were faster, at what comes after it."""
        seen = 0
        while found := await find(limit - seen):
            mine = await self._look_at(found, step, now, counts)
            seen += mine
            if mine == len(found):
                break
        return seen

    async def _look_at(self, jobs: Found, step: Step, now: int, counts: Counter[State]) -> int:
        """Take a step with each of these, by the rules; how many were not another's already."""
        seen: set[str] = set()

        def mine(space: Workspace) -> list[str]:
            return [id for id in jobs if jobs[id] in space.asked]

        async def fill(space: Workspace) -> None:
            ids = mine(space)
            await self.read_rows(space, ids)
            await self.read_gates(space, len(ids) + 2)

        async def do(space: Workspace) -> None:
            rows = [space.tables.rows[id] for id in mine(space) if id in space.tables.rows]
            for row in rows:
                step(space, row)

        def after(space: Workspace, missed: set[str], entered: set[str]) -> None:
            for id in [id for id in mine(space) if jobs[id] not in missed]:
                moved = space.moved(id)
                if moved is not None:
                    counts[State.QUEUED if id in entered else moved] += 1
                if moved is not None or jobs[id] in space.unreadable or space.is_waiting(id):
                    seen.add(id)

        await self.work(set(jobs.values()), now, fill, do, after)
        return len(seen)

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
