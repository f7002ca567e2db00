"""`mongodb://`: any number of processes on any number of hosts, without transactions."""

from __future__ import annotations

from tickwell.domain.promises import MONGODB, MONGODB_STANDALONE, Promises
from tickwell.ports.records import Flaw
from tickwell.stores.composed import ComposedStore
from tickwell.stores.mongo.catalog import MongoCatalog
from tickwell.stores.mongo.client import Client
from tickwell.stores.mongo.errors import translate_errors
from tickwell.stores.mongo.firing import MongoFiring
from tickwell.stores.mongo.history import MongoHistory
from tickwell.stores.mongo.indexes import flaws
from tickwell.stores.mongo.liveness import MongoLiveness
from tickwell.stores.mongo.pruning import MongoPruning
from tickwell.stores.mongo.queue import MongoQueue
from tickwell.stores.mongo.records import MongoRecords
from tickwell.stores.mongo.reports import MongoReports
from tickwell.stores.mongo.server import prepare
from tickwell.stores.mongo.steps import MongoSteps
from tickwell.stores.mongo.transfer import MongoTransfer
from tickwell.stores.mongo.url import Location, parse
from tickwell.stores.mongo.workspace.overlap_gates import OverlapGates
from tickwell.stores.mongo.workspace.sweep import Sweeper
from tickwell.stores.mongo.workspace.transaction import Transactions


class MongoStore(ComposedStore):
    """All collections of the store are in one database."""

    promises: Promises = MONGODB
    #: Whether opening creates the store in an empty database.
    makes = True

    def __init__(self, location: Location) -> None:
        self.location = location
        self.name = location.name
        self.client = Client(location)
        self.cache = self.client.cache
        transactions = Transactions(self.client)
        gates = OverlapGates(transactions)
        self.catalog: MongoCatalog = MongoCatalog(transactions)
        self.history: MongoHistory = MongoHistory(transactions)
        self.sweeper = Sweeper(gates, [self.catalog.adder.sweep, self.history.sweep])
        self.firing = MongoFiring(transactions)
        self.queue = MongoQueue(transactions)
        self.reports = MongoReports(gates)
        self.liveness = MongoLiveness(self.sweeper)
        self.steps = MongoSteps(transactions)
        self.records = MongoRecords(self.client)
        self.transfer = MongoTransfer(transactions)
        self.pruning = MongoPruning(transactions)

    @classmethod
    def from_url(cls, url: str) -> MongoStore:
        """The store that a URL names."""
        return cls(parse(url))

    @translate_errors
    async def open(self) -> None:
        self.client.connect()
        database = self.client.database
        try:
            await prepare(database, makes=self.makes)
        except BaseException:
            await database.close()
            raise
        self.promises = MONGODB if database.is_replicated else MONGODB_STANDALONE

    @translate_errors
    async def close(self) -> None:
        await self.client.close()

    @translate_errors
    async def flaws(self) -> list[Flaw]:
        """Indexes that are missing or differ from those that Tickwell makes."""
        return await flaws(self.client.database)

    @translate_errors
    async def ping(self) -> int:
        return await self.client.database.time()

    async def changed(self, seconds: float) -> bool:
        """Wait for another process to write."""
        return await self.client.ear.changed(seconds)

    async def prune(self, now: int, limit: int) -> int:
        return await self.pruning.prune(now, limit)
