"""The client, and the collections by name."""

from __future__ import annotations

from datetime import UTC
from typing import Any

from pymongo import AsyncMongoClient, WriteConcern
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.asynchronous.database import AsyncDatabase

from tickwell.clock import to_millis
from tickwell.stores.mongo.url import Location

Collection = AsyncCollection[dict[str, Any]]

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


class Database:
    """One client with its pool. It belongs to the event loop that opened it."""

    def __init__(self, location: Location) -> None:
        self.location = location
        self.client: AsyncMongoClient[dict[str, Any]] = AsyncMongoClient(
            location.url, connect=False, **location.options
        )
        self.handle: AsyncDatabase[dict[str, Any]] = self.client[location.database]
        self.batches: Collection = self.handle["batches"]
        # A hint: nobody waits for a disk to have it.
        self.bell: Collection = self.handle.get_collection("bell", write_concern=WriteConcern(w=1))
        self.executions: Collection = self.handle["executions"]
        self.gates: Collection = self.handle["gates"]
        self.jobs: Collection = self.handle["jobs"]
        self.meta: Collection = self.handle["meta"]
        self.records: Collection = self.handle["records"]
        self.skips: Collection = self.handle["skips"]
        self.workers: Collection = self.handle["workers"]
        #: A member of a replica set: it can be listened to.
        self.is_replicated = False

    async def close(self) -> None:
        """Let go of all connections."""
        await self.client.close()

    async def time(self) -> int:
        """The server's time in milliseconds."""
        answer = await self.handle.command("hello")
        return to_millis(answer["localTime"].replace(tzinfo=UTC))
