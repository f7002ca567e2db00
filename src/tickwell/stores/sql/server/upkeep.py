"""Pruning on a server: short transactions, and nobody is made to wait."""

from __future__ import annotations

from abc import ABC, abstractmethod

from tickwell.domain.policy import DAY
from tickwell.stores.sql.server.base import ServerBase
from tickwell.stores.sql.server.pruning import FIRST, Place, drop_jobs, drop_versions, prune_history


class ServerUpkeep(ServerBase, ABC):
    """The part of `ports.store.Upkeep` that deletes."""

    async def prune(self, now: int, limit: int) -> int:
        pruned = 0
        place: Place | None = FIRST
        while pruned < limit and place is not None:
            more, place = await self._prune_some(now, limit - pruned, place)
            pruned += more
        single = self.database.single
        pruned += await single(lambda session: session.run("old_skips", now, limit))
        pruned += await self.database.write(
            lambda session: drop_versions(session, self.cache, now, limit)
        )
        pruned += await single(lambda session: session.run("expired_records", now, limit))
        pruned += await single(lambda session: session.run("prune_workers", now - DAY, limit))
        await self.drop_gates(limit)
        return pruned + await self.database.write(lambda session: drop_jobs(session, limit))

    async def _prune_some(self, now: int, limit: int, place: Place) -> tuple[int, Place | None]:
        return await self.database.write(
            lambda session: prune_history(session, self.cache, now, limit, place)
        )

    @abstractmethod
    async def drop_gates(self, limit: int) -> None:
        """Forget gates that nobody is in; one that somebody is about to enter is left alone."""
