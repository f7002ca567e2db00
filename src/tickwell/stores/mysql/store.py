"""`mysql://` and `mariadb://`: any number of processes on any number of hosts."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from tickwell.domain.promises import MYSQL
from tickwell.ports.records import Flaw
from tickwell.stores.mysql.database import Database
from tickwell.stores.mysql.indexes import flaws
from tickwell.stores.mysql.migrate import PATIENCE, is_current, migrate
from tickwell.stores.mysql.queue import MysqlQueue
from tickwell.stores.mysql.records import MysqlRecords
from tickwell.stores.mysql.upkeep import MysqlUpkeep
from tickwell.stores.mysql.url import Location, parse
from tickwell.stores.pause import comes
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.server.catalog import ServerCatalog
from tickwell.stores.sql.server.history import ServerHistory

#: How often loops are woken, in seconds: the server tells nobody of others' writes.
POLL = 1.0


class MysqlStore(MysqlQueue, MysqlRecords, MysqlUpkeep, ServerCatalog, ServerHistory):
    """Everything in the tables of one database that share a prefix."""

    promises = MYSQL
    #: Whether it is set up where nothing of it is there yet.
    makes = True

    def __init__(self, location: Location) -> None:
        self.location = location
        self.name = location.name
        self.cache = JobCache()
        self.database = Database(location)
        self._closed = asyncio.Event()

    @classmethod
    def from_url(cls, url: str) -> MysqlStore:
        """The store that a URL names."""
        return cls(parse(url))

    async def open(self) -> None:
        self._closed = asyncio.Event()
        self.database = Database(self.location)
        await self.database.open()
        try:
            if not await self.database.single(
                lambda session: is_current(
                    session, self.location, self.database.flavour, makes=self.makes
                )
            ):
                await self._migrate()
        except BaseException:
            await self.database.close()
            raise

    async def _migrate(self) -> None:
        """A large table takes longer to change than a statement may, and others wait as long."""
        patient = Database(replace(self.location, statement_timeout=PATIENCE))
        await patient.open()
        try:
            await patient.single(lambda session: migrate(session, self.location, patient.flavour))
        finally:
            await patient.close()

    async def close(self) -> None:
        self._closed.set()
        await self.database.close()

    async def flaws(self) -> list[Flaw]:
        """Indexes that are missing, or are not as they were made."""
        return await self.database.read(lambda session: flaws(session, self.location.prefix))

    async def ping(self) -> int:
        time: int = await self.database.single(lambda session: session.value("time"))
        return time

    async def changed(self, seconds: float) -> bool:
        """Nothing is heard of other processes here: wake everybody regularly."""
        return not await comes(self._closed, min(seconds, POLL))
