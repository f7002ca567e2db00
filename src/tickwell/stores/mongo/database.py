"""The collections of a database, by name."""

from __future__ import annotations

import asyncio
from datetime import UTC
from random import SystemRandom
from typing import Any

from pymongo import AsyncMongoClient, WriteConcern
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.asynchronous.database import AsyncDatabase

from tickwell.clock import to_millis
from tickwell.stores.mongo.url import Location

Document = dict[str, Any]
Collection = AsyncCollection[Document]
#: Fields, each with 1 (ascending) or -1.
Order = list[tuple[str, int]]

COLLECTIONS = (
    "batches",
    "bell",
    "executions",
    "gates",
    "jobs",
    "meta",
    "records",
    "skips",
    "workers",
)

_random = SystemRandom()


class Database:
    """The driver's client with its connection pool; usable once it is connected."""

    client: AsyncMongoClient[Document]
    handle: AsyncDatabase[Document]
    batches: Collection
    bell: Collection
    executions: Collection
    gates: Collection
    jobs: Collection
    meta: Collection
    records: Collection
    skips: Collection
    workers: Collection

    def __init__(self, location: Location) -> None:
        self.location = location
        #: A member of a replica set has change streams.
        self.is_replicated = False

    def connect(self) -> None:
        """Make a new pool, which belongs to the event loop that uses it first."""
        location = self.location
        self.client = AsyncMongoClient(location.url, connect=False, **location.options)
        self.handle = self.client[location.database]
        self.batches = self.handle["batches"]
        # A hint: no writer waits until it is on disk.
        self.bell = self.handle.get_collection("bell", write_concern=WriteConcern(w=1))
        self.executions = self.handle["executions"]
        self.gates = self.handle["gates"]
        self.jobs = self.handle["jobs"]
        self.meta = self.handle["meta"]
        self.records = self.handle["records"]
        self.skips = self.handle["skips"]
        self.workers = self.handle["workers"]

    async def close(self) -> None:
        """Close all connections."""
        await self.client.close()

    async def time(self) -> int:
        """The server's time in milliseconds."""
        answer = await self.handle.command("hello")
        return to_millis(answer["localTime"].replace(tzinfo=UTC))


async def scan_page(
    scan: tuple[Collection, Document, Order], matching: Document, reach: int, limit: int
) -> tuple[list[Document], Document | None]:
    """The matches among the first `reach` documents of a scan; and the last one, if more follow."""
    collection, indexed, order = scan
    found = await collection.aggregate(
        [
            {"$match": indexed},
            {"$sort": dict(order)},
            {"$limit": reach},
            {"$match": matching},
            {"$limit": limit},
            {"$project": {"attempts": 0, "steps": 0}},
        ]
    )
    docs = [doc async for doc in found]
    if len(docs) == limit:
        return docs, None
    names = dict.fromkeys((name for name, _ in order), 1)
    return docs, await collection.find_one(indexed, names, sort=order, skip=reach - 1)


def new_op() -> str:
    """A unique name for one operation."""
    return f"{_random.getrandbits(96):024x}"


def monotonic() -> float:
    """Seconds on a clock that never goes back; for durations."""
    return asyncio.get_running_loop().time()
