"""The ends of attempts on MongoDB."""

from __future__ import annotations

from collections.abc import Sequence

from tickwell.domain.outcome import Report
from tickwell.errors import StoreCorrupt
from tickwell.ports.records import Finished
from tickwell.stores.mongo.errors import edge
from tickwell.stores.mongo.sweeping import MongoSweeping
from tickwell.stores.mongo.workspace import Workspace


class MongoFinishing(MongoSweeping):
    """The part of `ports.store.QueueStore` that ends attempts."""

    @edge
    async def finish(self, reports: Sequence[Report], now: int) -> Finished:
        finished = Finished()
        await self._end_by_rules(reports, now, finished)
        return finished

    async def _end_by_rules(self, reports: Sequence[Report], now: int, into: Finished) -> None:
        """Let the specification end attempts; what it answers goes into `into`."""
        answer, unreadable = Finished(), list[StoreCorrupt]()

        def mine(space: Workspace) -> list[Report]:
            asked = space.asked.difference(space.unreadable)
            return [each for each in reports if each.claim.job.id in asked]

        async def fill(space: Workspace) -> None:
            unreadable.extend(space.unreadable.values())
            await self.read_rows(space, [each.claim.id for each in mine(space)])
            await self.read_gates(space, len(mine(space)) + 2)

        async def do(space: Workspace) -> None:
            nonlocal answer
            answer = await space.spec.finish(mine(space), now)

        def after(_: Workspace, missed: set[str], __: set[str]) -> None:
            into.refused += [each for each in answer.refused if each.claim.job.id not in missed]
            into.failures |= {id: n for id, n in answer.failures.items() if id not in missed}

        if reports:
            await self.work({each.claim.job.id for each in reports}, now, fill, do, after)
        for error in unreadable:
            raise error  # when all others are written
