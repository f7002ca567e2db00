"""Separate keys in the same database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import SystemRandom

from tickwell.stores.redis.client import Client
from tickwell.stores.redis.url import parse
from tickwell.testing.verify.scratch.scratch_store import DocumentScratch, with_option

_SCAN_COUNT = 1000


class RedisScratch(DocumentScratch):
    """The keys of all prefixes that begin with the tag."""

    def __init__(self, url: str, tag: str) -> None:
        self._store_url = url
        self._tag = tag
        self._keys = f"{{{tag}*"
        self._move()
        self.name = f"the keys {self._keys} of {self._location.name.partition('?')[0]}"

    def _move(self) -> None:
        prefix = f"{self._tag}_{SystemRandom().getrandbits(32):08x}"
        self.url = with_option(self._store_url, "prefix", prefix)
        self._location = parse(self.url)

    async def empty(self) -> None:
        """Use another prefix: finding keys would scan the whole database."""
        self._move()

    async def drop(self) -> None:
        async with self._opened() as client:
            cursor = "0"
            while True:
                cursor, keys = await client.command(
                    "SCAN", cursor, "MATCH", self._keys, "COUNT", _SCAN_COUNT
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
