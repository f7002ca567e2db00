"""Connections and transactions: begun, ended, repeated and translated in one place."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import TypeVar

import asyncmy
from asyncmy.connection import Connection

from tickwell.errors import StoreUnavailable
from tickwell.stores.event_wait import rest
from tickwell.stores.mysql.dialect import statements
from tickwell.stores.mysql.errors import DRIVER, is_undone, translate
from tickwell.stores.mysql.pool import Pool
from tickwell.stores.mysql.server import Flavour
from tickwell.stores.mysql.session import Session
from tickwell.stores.mysql.url import Location

T = TypeVar("T")
Work = Callable[[Session], Awaitable[T]]

#: How often a transaction that came to nothing is done again, and the first pause in seconds.
TRIES = 10
PAUSE = 0.005
BEGIN = "START TRANSACTION"
#: One state of the data for all statements.
LOOK = (
    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;"
    " START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"
)


class Database:
    """A pool of connections, all of them set up alike."""

    def __init__(self, location: Location) -> None:
        self.location = location
        self.sql = statements(location.prefix)
        #: What the server is; known once it is open.
        self.flavour = Flavour()
        self._pool: Pool | None = None
        self._random = Random()

    async def open(self) -> None:
        """Connect once; raises what stands in the way."""
        pool = Pool(self.connect, self.location.pool)
        try:
            pool.give_back(await pool.take())
        except DRIVER as error:
            raise translate(error, self.location.name) from error
        self._pool = pool

    async def close(self) -> None:
        """Let calls under way end, then let go of all connections."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()

    async def connect(self) -> Connection:
        """A connection with our settings."""
        location = self.location
        connection = await asyncmy.connect(
            **location.driver,
            database=location.database,
            charset="utf8mb4",
            autocommit=True,
            connect_timeout=location.connect_timeout,
            # After the server's own timeout: this one costs the connection.
            read_timeout=location.statement_timeout + 5,
            program_name="tickwell",
        )
        try:
            session = Session(connection, self.sql)
            [(version, most)], _ = await session.send("SELECT VERSION(), @@max_allowed_packet")
            self.flavour = Flavour(version, most)
            await session.send(self.flavour.settings(location))
        except BaseException:
            connection.close()
            raise
        return connection

    async def write(self, work: Work[T]) -> T:
        """Do this in a transaction; it may be done again, so it keeps nothing between runs."""
        return await self._repeat(BEGIN, work)

    async def read(self, work: Work[T]) -> T:
        """Look at one state of the data, however many statements it takes."""
        return await self._repeat(LOOK, work)

    async def survey(self, work: Work[T]) -> T:
        """Read tables as a whole, to count or sum them up."""
        return await self.read(work)

    async def write_one(self, work: Work[T]) -> T:
        """Run one statement, which is a transaction of its own."""
        return await self._repeat("", work)

    async def read_one(self, work: Work[T]) -> T:
        """Run one statement that only reads, in the same way."""
        return await self.write_one(work)

    async def _repeat(self, begin: str, work: Work[T]) -> T:
        pause = PAUSE
        for left in reversed(range(TRIES)):
            try:
                return await self._on_connection(begin, work)
            except DRIVER as error:
                if not left or not is_undone(error):
                    raise translate(error, self.location.name) from error
            await rest(pause * self._random.uniform(0.5, 1.5))
            pause *= 2
        raise AssertionError  # the last try answers or raises

    async def _on_connection(self, begin: str, work: Work[T]) -> T:
        pool = self._pool
        if pool is None:
            raise StoreUnavailable(f"{self.location.name} is not open; call open() first")
        # Not waited for without end: a server that is gone holds every connection of the pool.
        async with asyncio.timeout(self.location.statement_timeout):
            connection = await pool.take()
        session = Session(connection, self.sql, self.flavour.most, begin)
        try:
            result = await work(session)
            if begin and not session.opening:
                await session.send("COMMIT")
        except asyncio.CancelledError:
            pool.drop(connection)
            raise
        except BaseException:
            if await _rolled_back(session):
                pool.give_back(connection)
            else:
                pool.drop(connection)
            raise
        pool.give_back(connection)
        return result


async def _rolled_back(session: Session) -> bool:
    """Undo, always: a lock that was waited for too long leaves the transaction open."""
    session.opening = ""
    try:
        async with asyncio.timeout(5):
            await session.send("ROLLBACK")
    except DRIVER:
        return False
    return True
