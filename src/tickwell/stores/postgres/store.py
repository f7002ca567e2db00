"""`postgresql://`: any number of processes on any number of hosts."""

from __future__ import annotations

from random import SystemRandom

from tickwell.domain.promises import POSTGRESQL
from tickwell.ports.records import Flaw
from tickwell.stores.postgres.catalog import PostgresCatalog
from tickwell.stores.postgres.database import Database
from tickwell.stores.postgres.indexes import flaws
from tickwell.stores.postgres.migrate import migrate
from tickwell.stores.postgres.notifier import Bell, Ear
from tickwell.stores.postgres.queue import PostgresQueue
from tickwell.stores.postgres.records import PostgresRecords
from tickwell.stores.postgres.transactional import PostgresTransactional
from tickwell.stores.postgres.url import Location, parse
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.server.history import ServerHistory


class PostgresStore(
    PostgresQueue, PostgresRecords, PostgresTransactional, PostgresCatalog, ServerHistory
):
    """Everything in one schema of a database."""

    promises = POSTGRESQL
    #: Whether it is set up where nothing of it is there yet.
    makes = True

    def __init__(self, location: Location) -> None:
        self.location = location
        self.name = location.name
        self.cache = JobCache()
        self._set_up()

    def _set_up(self) -> None:
        self.database = Database(self.location)
        self.bell = Bell(self.database, f"{SystemRandom().getrandbits(64):016x}")
        self._ear = Ear(self.database, self.bell)

    @classmethod
    def from_url(cls, url: str) -> PostgresStore:
        """The store that a URL names."""
        return cls(parse(url))

    async def open(self) -> None:
        self._set_up()
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
        time: int = await self.database.single(lambda session: session.value("time"))
        return time

    async def changed(self, seconds: float) -> bool:
        """Wait for another process to write; its bell is heard on a connection of its own."""
        return await self._ear.changed(seconds)
