"""`mysql://` and `mariadb://`: any number of processes on any number of hosts."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from tickwell.domain.promises import MYSQL
from tickwell.ports.records import Flaw
from tickwell.stores.event_wait import comes
from tickwell.stores.mysql import errors, listing
from tickwell.stores.mysql.database import Database
from tickwell.stores.mysql.migrate import PATIENCE, flaws, is_current, migrate
from tickwell.stores.mysql.parts import MysqlPruning, MysqlQueue, MysqlRecords
from tickwell.stores.mysql.steps import MysqlSteps
from tickwell.stores.mysql.url import Location, parse
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.catalog import SqlCatalog
from tickwell.stores.sql.flow.finishing import SqlReports
from tickwell.stores.sql.flow.firing import SqlFiring
from tickwell.stores.sql.history import SqlHistory
from tickwell.stores.sql.liveness import SqlLiveness
from tickwell.stores.sql.parts import Context
from tickwell.stores.sql.store import SqlStore
from tickwell.stores.sql.transfer import SqlTransfer

#: How often loops are woken, in seconds: the server tells nobody of others' writes.
POLL = 1.0


class MysqlStore(SqlStore[Database]):
    """Everything in the tables of one database that share a prefix."""

    promises = MYSQL
    #: Whether it is set up where nothing of it is there yet.
    makes = True

    def __init__(self, location: Location) -> None:
        self.location = location
        self.name = location.name
        context = Context(Database(location), errors, listing, JobCache())
        self.context = context
        self.firing = SqlFiring(context)
        self.queue = MysqlQueue(context)
        self.reports = SqlReports(context)
        self.liveness = SqlLiveness(context)
        self.catalog = SqlCatalog(context)
        self.history = SqlHistory(context)
        self.steps = MysqlSteps(context)
        self.records = MysqlRecords(context)
        self.transfer = SqlTransfer(context)
        self.pruning = MysqlPruning(context)
        self._closed = asyncio.Event()

    @classmethod
    def from_url(cls, url: str) -> MysqlStore:
        """The store that a URL names."""
        return cls(parse(url))

    async def open(self) -> None:
        self._closed = asyncio.Event()
        self.context.database = Database(self.location)
        await self.database.open()
        try:
            if not await self.database.write_one(
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
            await patient.write_one(
                lambda session: migrate(session, self.location, patient.flavour)
            )
        finally:
            await patient.close()

    async def close(self) -> None:
        self._closed.set()
        await self.database.close()

    async def flaws(self) -> list[Flaw]:
        """Indexes that are missing, or are not as they were made."""
        return await self.database.read(lambda session: flaws(session, self.location.prefix))

    async def ping(self) -> int:
        time: int = await self.database.write_one(lambda session: session.value("time"))
        return time

    async def changed(self, seconds: float) -> bool:
        """Nothing is heard of other processes here: wake everybody regularly."""
        return not await comes(self._closed, min(seconds, POLL))
