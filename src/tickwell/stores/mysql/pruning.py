"""Pruning on MySQL and MariaDB: what takes several statements here."""

from __future__ import annotations

from tickwell.stores.mysql.database import Database
from tickwell.stores.mysql.session import Session
from tickwell.stores.sql.server.pruning import SqlPruning


class MysqlPruning(SqlPruning[Database]):
    """Deletes what is past its retention, in short transactions."""

    async def drop_gates(self, limit: int) -> None:
        async def work(session: Session) -> None:
            free = [name for (name,) in await session.rows("free_gates", limit)]
            if free:
                await session.run("prune_gates", free)

        await self.database.write(work)
