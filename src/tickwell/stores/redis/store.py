"""`redis://`: any number of processes on any number of hosts, as durable as the server is set."""

from __future__ import annotations

from random import SystemRandom

from tickwell.domain.promises import REDIS_VOLATILE, Promises
from tickwell.stores.redis import epoch
from tickwell.stores.redis.catalog import RedisCatalog
from tickwell.stores.redis.client import Client
from tickwell.stores.redis.history import RedisHistory
from tickwell.stores.redis.notifier import Bell, Ear
from tickwell.stores.redis.queue import RedisQueue
from tickwell.stores.redis.records import RedisRecords
from tickwell.stores.redis.server import check
from tickwell.stores.redis.url import Location, parse
from tickwell.stores.sql.cache import JobCache


class RedisStore(RedisQueue, RedisCatalog, RedisHistory, RedisRecords):
    """Everything under one prefix of a database."""

    #: What the server's settings allow; known once it is open.
    promises: Promises = REDIS_VOLATILE
    #: Whether it is set up where nothing of it is there yet.
    makes = True

    def __init__(self, location: Location) -> None:
        self.location = location
        self.name = location.name
        self.cache = JobCache()
        self._is_open = False
        self._set_up()

    def _set_up(self) -> None:
        self.client = Client(self.location)
        channel, sender = self.location.key("bell"), f"{SystemRandom().getrandbits(64):016x}"
        self.bell = Bell(self.client.run, channel, sender)
        self._ear = Ear(self.location, channel, sender)

    @classmethod
    def from_url(cls, url: str) -> RedisStore:
        """The store that a URL names."""
        return cls(parse(url))

    async def open(self) -> None:
        self._set_up()
        try:
            self.promises = await check(self.client)
            await epoch.enter(self.client, makes=self.makes)
        except BaseException:
            await self.client.close()
            raise
        self._is_open = True

    async def close(self) -> None:
        await self._ear.close()
        await self.bell.close()
        await self.client.close()
        if self._is_open:
            self._is_open = False
            epoch.leave(self.client)

    async def ping(self) -> int:
        return int(await self.client.call("ping"))

    async def changed(self, seconds: float) -> bool:
        """Wait for another process to write; its bell is heard on a connection of its own."""
        return await self._ear.changed(seconds)

    async def prune(self, now: int, limit: int) -> int:
        return int(await self.client.call("prune", now, limit))
