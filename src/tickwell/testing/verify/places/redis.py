"""Keys of their own in the same database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tickwell.stores.redis.client import Client
from tickwell.stores.redis.url import parse
from tickwell.testing.verify.places.place import Place, with_option

_MANY = 1000


class RedisPlace(Place):
    """The keys of one prefix."""

    def __init__(self, url: str, tag: str) -> None:
        self.url = with_option(url, "prefix", tag)
        self._location = parse(self.url)
        self.name = f"the keys {self._location.key('*')} of {self._location.name.partition('?')[0]}"

    async def empty(self) -> None:
        await self.drop()

    async def drop(self) -> None:
        async with self._opened() as client:
            cursor = "0"
            while True:
                pattern = self._location.key("*")
                cursor, keys = await client.command(
                    "SCAN", cursor, "MATCH", pattern, "COUNT", _MANY
                )
                if keys:
                    await client.command("UNLINK", *keys)
                if int(cursor) == 0:
                    return

    async def swap(self, job: str, document: str) -> str:
        key = self._location.key("job")
        async with self._opened() as client:
            before: bytes = await client.command("HGET", key, job)
            await client.command("HSET", key, job, document)
        return before.decode()

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[Client]:
        client = Client(self._location)
        try:
            yield client
        finally:
            await client.close()
