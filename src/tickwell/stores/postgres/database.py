"""Connections and transactions: begun, ended, repeated and translated in one place."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from random import Random
from typing import Any, TypeVar

import asyncpg

from tickwell.errors import StoreRefused, StoreUnavailable
from tickwell.stores.event_wait import rest
from tickwell.stores.postgres.connection import Connection, Hosts
from tickwell.stores.postgres.errors import (
    DRIVER,
    driver_message,
    is_hung_up,
    is_pooler,
    is_undone,
    translate,
)
from tickwell.stores.postgres.server import quoted
from tickwell.stores.postgres.session import Session, statements
from tickwell.stores.postgres.url import Location

T = TypeVar("T")
Work = Callable[[Session], Awaitable[T]]

#: How often a transaction that the server undid is done again, and the first pause in seconds.
TRIES = 8
PAUSE = 0.005
#: Seconds that the driver waits longer than the server: giving up costs the connection.
GRACE = 5.0
#: Not "read write", which a replica refuses before it can be asked whether it is one.
BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"
#: One state of the data for all statements.
LOOK = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
#: Who counts reads all rows: there the planner may do as it likes.
SURVEY = "".join(
    f"; SET LOCAL enable_{way} = on" for way in ("seqscan", "hashjoin", "mergejoin", "bitmapscan")
)
#: What a call has confirmed survives a crash of the server, also where that is set to confirm
#: before it writes. A claim that the server forgets leaves a started attempt off the record, and
#: its number for another. Other values promise as much or more, and stay.
_DURABLE = (
    "SELECT set_config('synchronous_commit', 'local', {local})"
    " WHERE current_setting('synchronous_commit') = 'off'"
)


class Database:
    """A pool of connections without any state of their own."""

    def __init__(self, location: Location) -> None:
        self.location = location
        self.sql = statements(location.schema)
        #: Connections are shared between transactions: nothing of ours stays on them.
        self.is_pooled = location.pooler == "transaction"
        self._hosts = Hosts(location.dsns)
        self._pool: asyncpg.Pool | None = None
        self._random = Random()

    async def open(self) -> None:
        """Connect once; raises what stands in the way."""
        self._check_files()
        try:
            self._pool = await self._make_pool()
        except DRIVER as error:
            if isinstance(error, asyncpg.InsufficientPrivilegeError):
                raise self._locked_out(error) from error
            if is_hung_up(error) and "sslcert" in self.location.files:
                raise self._mistrusted(error) from error
            asked = self.is_pooled or self.location.pooler is not None
            if asked or not is_pooler(error):
                raise translate(error, self.location.name) from error
            self.is_pooled = True
            await self.open()

    def _check_files(self) -> None:
        """The driver would say that one is missing, but not which."""
        for option, path in self.location.files.items():
            if not os.access(path, os.R_OK):
                raise StoreRefused(
                    f"{self.location.name}: {path} cannot be read; correct {option} in the URL"
                )

    def _locked_out(self, error: BaseException) -> StoreRefused:
        """The server does not name the user, and speaks whatever language it is set to."""
        location = self.location
        user = quoted(location.user) if location.user else "this user"
        database = quoted(location.database) if location.database else "this database"
        return StoreRefused(
            f"{location.name} refuses: {driver_message(error)};"
            f" as its owner: GRANT CONNECT ON DATABASE {database} TO {user}"
        )

    def _mistrusted(self, error: BaseException) -> StoreUnavailable:
        """Since TLS 1.3 a certificate of ours is looked at when we are through with ours."""
        return StoreUnavailable(
            f"{self.location.name} closed the new connection ({driver_message(error)});"
            " TLS may have been refused: check that the server trusts the certificate of sslcert"
        )

    async def close(self) -> None:
        """Let calls under way end, then let go of all connections."""
        pool, self._pool = self._pool, None
        if pool is None:
            return
        try:
            async with asyncio.timeout(self.location.connect_timeout):
                await pool.close()
        except TimeoutError:
            pool.terminate()

    async def connect(self) -> Connection:
        """A connection beside the pool."""
        return await self._hosts.connect(connection_class=Connection, **self._options())

    async def write(self, work: Work[T]) -> T:
        """Do this in a transaction; it may be done again, so it keeps nothing between runs."""
        return await self._repeat(lambda session: self._within(session, BEGIN, work))

    async def read(self, work: Work[T]) -> T:
        """Look at one state of the data, however many statements it takes."""
        return await self._repeat(lambda session: self._within(session, LOOK, work))

    async def survey(self, work: Work[T]) -> T:
        """Read tables as a whole, in whichever way the planner finds best."""
        return await self._repeat(lambda session: self._within(session, LOOK, work, SURVEY))

    async def write_one(self, work: Work[T]) -> T:
        """Run one statement, which is a transaction of its own where connections are ours."""
        if self.is_pooled:
            return await self.write(work)
        return await self._repeat(work)

    async def read_one(self, work: Work[T]) -> T:
        """Run one statement that only reads, in the same way."""
        return await self.write_one(work)

    async def _repeat(self, work: Work[T]) -> T:
        pause = PAUSE
        for _ in range(TRIES - 1):
            try:
                return await self._on_connection(work)
            except asyncpg.PostgresError as error:
                if not is_undone(error):
                    raise translate(error, self.location.name) from error
            except DRIVER as error:
                raise translate(error, self.location.name) from error
            await rest(pause * self._random.uniform(0.5, 1.5))
            pause *= 2
        try:
            return await self._on_connection(work)
        except DRIVER as error:
            raise translate(error, self.location.name) from error

    async def _on_connection(self, work: Work[T]) -> T:
        if self._pool is None:
            raise StoreUnavailable(f"{self.location.name} is not open; call open() first")
        # Not waited for without end: a server that is gone holds every connection of the pool.
        async with self._pool.acquire(timeout=self.location.statement_timeout) as connection:
            try:
                return await work(Session(connection, self.sql))
            except asyncpg.ReadOnlySQLTransactionError:
                # It was made while a replica answered in the primary's place; a new one may not be.
                terminate(connection)
                raise
            except (asyncpg.InternalClientError, TimeoutError, asyncio.CancelledError):
                # Nobody knows what the next answer on it would belong to, or whether there is one:
                # the pool would wait for it.
                terminate(connection)
                raise

    async def _within(self, session: Session, begin: str, work: Work[T], settings: str = "") -> T:
        connection = session.connection
        # Together, which is one round trip.
        await connection.execute(begin if self.is_pooled else f"{begin}{settings}")
        try:
            if self.is_pooled:
                await connection.execute(f"{self._local_settings()}{settings}")
            result = await work(session)
            await connection.execute("COMMIT")
        except (TimeoutError, asyncio.CancelledError):
            raise  # the connection is ended, and the transaction with it
        except BaseException:
            await roll_back(connection)
            raise
        return result

    def _local_settings(self) -> str:
        settings = self._settings().items()
        told = [f"SET LOCAL {name} = '{value}'" for name, value in settings]
        return "; ".join([*told, _DURABLE.format(local=True)])

    def _settings(self) -> dict[str, str]:
        return {
            # Every statement but those of a survey is written for its indexes, row by row. What
            # the planner knows of tables that fill and empty within a second is wrong by the next:
            # a plan made for an empty queue walks over all of a full one.
            "enable_seqscan": "off",
            "enable_hashjoin": "off",
            "enable_mergejoin": "off",
            # A bitmap is read by pages: rows would be locked in that order, and not by their keys.
            "enable_bitmapscan": "off",
            # What is given does not change how it is found: one plan for all calls of a connection.
            "plan_cache_mode": "force_generic_plan",
            # A single statement is a transaction too.
            "default_transaction_isolation": "read committed",
            # Where a table has to be walked all the same, that looks dear enough to be compiled.
            "jit": "off",
            "statement_timeout": str(int(self.location.statement_timeout * 1000)),
            "lock_timeout": str(int(self.location.lock_timeout * 1000)),
            "idle_in_transaction_session_timeout": str(int(self.location.statement_timeout * 1000)),
        }

    async def _make_pool(self) -> asyncpg.Pool:
        pool = await asyncpg.create_pool(
            **self._options(),
            connect=self._hosts.connect,
            connection_class=Connection,
            # The driver logs a traceback each time that it cannot keep up a number of its own.
            min_size=0,
            max_size=self.location.pool,
            # A pooler's connections are others' as well: there it is part of each transaction.
            init=None if self.is_pooled else _make_durable,
            reset=_nothing,
        )
        try:
            async with pool.acquire():
                return pool
        except BaseException:
            pool.terminate()
            raise

    def _options(self) -> dict[str, Any]:
        location = self.location
        options: dict[str, Any] = {
            "timeout": location.connect_timeout,
            "command_timeout": location.statement_timeout + GRACE,
        }
        if self.is_pooled:
            # A named statement would be looked for on another server connection.
            return options | {"statement_cache_size": 0}
        settings = {"application_name": "tickwell", **self._settings()}
        return options | {"server_settings": settings, "statement_cache_size": 500}


async def roll_back(connection: asyncpg.Connection) -> None:
    """Undo; a connection that cannot even do that is thrown away."""
    try:
        if not connection.is_closed():
            await connection.execute("ROLLBACK", timeout=5)
    except (*DRIVER, asyncio.CancelledError):
        terminate(connection)


def terminate(connection: asyncpg.Connection) -> None:
    """End it, unless it was cut: then the pool has taken it back, and what was raised counts."""
    with suppress(asyncpg.InterfaceError):
        connection.terminate()


async def _make_durable(connection: asyncpg.Connection) -> None:
    """Have commits on it written before they are confirmed."""
    await connection.execute(_DURABLE.format(local=False))


async def _nothing(_: asyncpg.Connection) -> None:
    """There is nothing to reset, which saves a round trip after every call."""
