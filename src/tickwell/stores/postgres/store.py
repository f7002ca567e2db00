"""`postgresql://`: any number of processes on any number of hosts."""

from __future__ import annotations

from random import SystemRandom
from typing import Any

from tickwell.domain.promises import POSTGRESQL
from tickwell.ports.records import Flaw
from tickwell.ports.transactional import Maker
from tickwell.stores.postgres import errors, listing
from tickwell.stores.postgres.database import Database
from tickwell.stores.postgres.finishing import PostgresReports
from tickwell.stores.postgres.migrate import flaws, migrate
from tickwell.stores.postgres.notifier import Bell, Ear
from tickwell.stores.postgres.parts import PostgresCatalog, PostgresPruning, PostgresQueue
from tickwell.stores.postgres.transactional import PostgresTransactions
from tickwell.stores.postgres.url import Location, parse
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.flow.firing import SqlFiring
from tickwell.stores.sql.history import SqlHistory
from tickwell.stores.sql.liveness import SqlLiveness
from tickwell.stores.sql.parts import Context
from tickwell.stores.sql.records import SqlRecords
from tickwell.stores.sql.steps import SqlSteps
from tickwell.stores.sql.store import SqlStore
from tickwell.stores.sql.transfer import SqlTransfer


class PostgresStore(SqlStore[Database]):
    """Everything in one schema of a database."""

    promises = POSTGRESQL
    #: Whether it is set up where nothing of it is there yet.
    makes = True

    def __init__(self, location: Location) -> None:
        self.location = location
        self.name = location.name
        context = Context(Database(location), errors, listing, JobCache(), self._ring)
        self.context = context
        self.firing = SqlFiring(context)
        self.queue = PostgresQueue(context)
        self.reports = PostgresReports(context)
        self.liveness = SqlLiveness(context)
        self.catalog = PostgresCatalog(context)
        self.history = SqlHistory(context)
        self.steps = SqlSteps(context)
        self.records = SqlRecords(context)
        self.transfer = SqlTransfer(context)
        self.pruning = PostgresPruning(context)
        self.transactions = PostgresTransactions(context)
        self._connect_bell()

    def _ring(self) -> None:
        self.bell.ring()

    def _connect_bell(self) -> None:
        self.bell = Bell(self.database, f"{SystemRandom().getrandbits(64):016x}")
        self._ear = Ear(self.database, self.bell)

    @classmethod
    def from_url(cls, url: str) -> PostgresStore:
        """The store that a URL names."""
        return cls(parse(url))

    async def open(self) -> None:
        self.context.database = Database(self.location)
        self._connect_bell()
        await self.database.open()
        try:
            await self.database.write(
                lambda session: migrate(session, self.location, makes=self.makes)
            )
        except BaseException:
            await self.database.close()
            raise

    async def close(self) -> None:
        await self._ear.close()
        await self.bell.close()
        await self.database.close()

    async def flaws(self) -> list[Flaw]:
        """Indexes that are missing, or are not as they were made."""
        return await self.database.read(lambda session: flaws(session, self.location.schema))

    async def ping(self) -> int:
        time: int = await self.database.write_one(lambda session: session.value("time"))
        return time

    async def changed(self, seconds: float) -> bool:
        """Wait for another process to write; its bell is heard on a connection of its own."""
        return await self._ear.changed(seconds)

    def add_on(self, connection: Any, project: str, job_key: str, make: Maker) -> str:
        return self.transactions.add_on(connection, project, job_key, make)

    async def add_on_async(self, connection: Any, project: str, job_key: str, make: Maker) -> str:
        return await self.transactions.add_on_async(connection, project, job_key, make)
