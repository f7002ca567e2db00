"""Moving given executions by the rules of the specification."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from tickwell.stores.mongo.sweeping import MongoSweeping
from tickwell.stores.mongo.workspace import Workspace

Method = Callable[[Workspace, list[str]], Awaitable[list[str]]]


class MongoSettling(MongoSweeping):
    """What several operations on given executions share."""

    async def on_rows(self, ids: Sequence[str], now: int, method: Method) -> list[str]:
        """Call a method of the specification; the executions that it did something to."""
        found = self._database.executions.find({"_id": {"$in": [*ids]}}, {"job": 1})
        jobs = {doc["_id"]: doc["job"] async for doc in found}
        done: set[str] = set()
        moved: list[str] = []

        def mine(space: Workspace) -> list[str]:
            return [id for id in ids if jobs.get(id) in space.asked]

        async def fill(space: Workspace) -> None:
            space.require_readable()
            await self.read_rows(space, mine(space))
            await self.read_gates(space, len(ids) + 2)

        async def do(space: Workspace) -> None:
            moved[:] = await method(space, mine(space))

        def after(_: Workspace, missed: set[str], __: set[str]) -> None:
            done.update(id for id in moved if jobs[id] not in missed)

        await self.work(set(jobs.values()), now, fill, do, after)
        return [id for id in dict.fromkeys(ids) if id in done]
