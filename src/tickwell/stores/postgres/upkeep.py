"""Pruning on PostgreSQL: what takes one statement here."""

from __future__ import annotations

from tickwell.stores.postgres.base import PostgresBase
from tickwell.stores.sql.server.upkeep import ServerUpkeep


class PostgresUpkeep(PostgresBase, ServerUpkeep):
    """The part of `ports.store.Upkeep` that deletes."""

    async def drop_gates(self, limit: int) -> None:
        await self.database.single(lambda session: session.run("prune_gates", limit))
