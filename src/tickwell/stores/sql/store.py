"""A store on SQL, but for opening and closing, which each database does in its own way."""

from __future__ import annotations

from typing import Generic

from tickwell.stores.composed import ComposedStore
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.flow.pruning import SqlPruning
from tickwell.stores.sql.parts import Context, D


class SqlStore(ComposedStore, Generic[D]):
    """Parts around one context: the connections, the known definitions, the dialect."""

    context: Context[D]
    pruning: SqlPruning[D]

    @property
    def database(self) -> D:
        """The connections; a store that is opened again has new ones."""
        return self.context.database

    @property
    def cache(self) -> JobCache:
        """The job definitions that this process knows."""
        return self.context.cache

    @cache.setter
    def cache(self, cache: JobCache) -> None:
        self.context.cache = cache

    async def prune(self, now: int, limit: int) -> int:
        return await self.pruning.prune(now, limit)
