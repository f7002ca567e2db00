"""`mongodb://`: any number of processes on any number of hosts, without transactions."""

from __future__ import annotations

from tickwell.domain.promises import MONGODB, MONGODB_STANDALONE, Promises
from tickwell.ports.records import Flaw
from tickwell.stores.mongo.base import new_op
from tickwell.stores.mongo.catalog import MongoCatalog
from tickwell.stores.mongo.database import Database
from tickwell.stores.mongo.errors import edge
from tickwell.stores.mongo.history import MongoHistory
from tickwell.stores.mongo.indexes import flaws
from tickwell.stores.mongo.notifier import Bell, Ear
from tickwell.stores.mongo.queue import MongoQueue
from tickwell.stores.mongo.records import MongoRecords
from tickwell.stores.mongo.server import prepare
from tickwell.stores.mongo.upkeep import MongoUpkeep
from tickwell.stores.mongo.url import Location, parse
from tickwell.stores.sql.cache import JobCache


class MongoStore(MongoQueue, MongoCatalog, MongoHistory, MongoRecords, MongoUpkeep):
    """Everything in one database of a server."""

    promises: Promises = MONGODB
    #: Whether it is set up where nothing of it is there yet.
    makes = True

    def __init__(self, location: Location) -> None:
        super().__init__()
        self.location = location
        self.name = location.name
        self.cache = JobCache()

    @classmethod
    def from_url(cls, url: str) -> MongoStore:
        """The store that a URL names."""
        return cls(parse(url))

    @edge
    async def open(self) -> None:
        self._database = Database(self.location)
        self.bell = Bell(self._database, new_op())
        self._ear = Ear(self._database, self.bell)
        try:
            await prepare(self._database, makes=self.makes)
        except BaseException:
            await self._database.close()
            raise
        self.promises = MONGODB if self._database.is_replicated else MONGODB_STANDALONE

    @edge
    async def close(self) -> None:
        await self._ear.close()
        await self.bell.close()
        await self._database.close()

    @edge
    async def flaws(self) -> list[Flaw]:
        """Indexes that are missing, or are not as they were made."""
        return await flaws(self._database)

    @edge
    async def ping(self) -> int:
        return await self._database.time()

    async def changed(self, seconds: float) -> bool:
        """Wait for another process to write; its bell is heard by a change stream."""
        return await self._ear.changed(seconds)
