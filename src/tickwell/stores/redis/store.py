"""`redis://`: any number of processes and hosts; as durable as the server is configured."""

from __future__ import annotations

from tickwell.domain.promises import REDIS_VOLATILE, Promises
from tickwell.stores.composed import ComposedStore
from tickwell.stores.redis.catalog import RedisCatalog
from tickwell.stores.redis.client import Client
from tickwell.stores.redis.firing import RedisFiring
from tickwell.stores.redis.history import RedisHistory
from tickwell.stores.redis.liveness import RedisLiveness
from tickwell.stores.redis.queue import RedisQueue, RedisReports
from tickwell.stores.redis.records import RedisRecords
from tickwell.stores.redis.server import check, enter, leave
from tickwell.stores.redis.steps import RedisSteps
from tickwell.stores.redis.transfer import RedisTransfer
from tickwell.stores.redis.url import Location, parse


class RedisStore(ComposedStore):
    """All keys of the store begin with one prefix, in one database."""

    #: What the server's settings allow; known once the store is open.
    promises: Promises = REDIS_VOLATILE
    #: Whether opening creates the store in an empty database.
    makes = True

    def __init__(self, location: Location) -> None:
        self.location = location
        self.name = location.name
        self.client = Client(location)
        self.firing = RedisFiring(self.client)
        self.queue = RedisQueue(self.client)
        self.reports = RedisReports(self.client)
        self.liveness = RedisLiveness(self.client)
        self.catalog = RedisCatalog(self.client)
        self.history = RedisHistory(self.client)
        self.steps = RedisSteps(self.client)
        self.records = RedisRecords(self.client)
        self.transfer = RedisTransfer(self.client)
        self._is_open = False

    @classmethod
    def from_url(cls, url: str) -> RedisStore:
        """The store that a URL names."""
        return cls(parse(url))

    async def open(self) -> None:
        self.client.connect()
        try:
            self.promises = await check(self.client)
            await enter(self.client, makes=self.makes)
        except BaseException:
            await self.client.close()
            raise
        self._is_open = True

    async def close(self) -> None:
        await self.client.close()
        if self._is_open:
            self._is_open = False
            leave(self.client)

    async def ping(self) -> int:
        return int(await self.client.call("ping"))

    async def changed(self, seconds: float) -> bool:
        """Wait for another process to write."""
        return await self.client.ear.changed(seconds)

    async def prune(self, now: int, limit: int) -> int:
        return int(await self.client.call("prune", now, limit))
