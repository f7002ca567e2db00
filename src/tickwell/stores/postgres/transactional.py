"""Runs requested on the caller's connection to the same database.

The execution is recorded as waiting and due, and takes no lock that a fire, a claim or an end of an
execution needs: a caller may take its time until it commits.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from random import SystemRandom
from typing import Any

from tickwell.errors import InvalidInput, StoreRefused
from tickwell.ports.transactional import Maker
from tickwell.stores.postgres import on_asyncpg, on_psycopg
from tickwell.stores.postgres.database import Database
from tickwell.stores.postgres.errors import DRIVER, translate
from tickwell.stores.postgres.requesting import Request
from tickwell.stores.postgres.session import Session
from tickwell.stores.sql.parts import Part
from tickwell.stores.sql.sqlalchemy_connection import driver_of, driver_of_async


class PostgresTransactions(Part[Database]):
    """Records runs on the caller's connection, as `ports.transactional` has it."""

    #: Learned once: no two stores share it.
    _request: Request | None = None

    def add_on(self, connection: Any, project: str, job_key: str, make: Maker) -> str:
        driver = driver_of(connection)
        if on_asyncpg.is_one(driver) or (
            on_psycopg.is_one(driver) and on_psycopg.must_be_awaited(driver)
        ):
            raise InvalidInput(
                "the connection has to be awaited",
                field="connection",
                hint="Use await scheduler.transactions.trigger_async(…)",
            )
        if not on_psycopg.is_one(driver):
            raise _unknown(driver)
        if self._request is None:
            # In a thread, since the caller's may have a loop that runs.
            with ThreadPoolExecutor(1) as thread:
                self._request = thread.submit(asyncio.run, self._learn()).result()
        return on_psycopg.run(driver, self._request.steps(project, job_key, make))

    async def add_on_async(self, connection: Any, project: str, job_key: str, make: Maker) -> str:
        driver = await driver_of_async(connection)
        if on_asyncpg.is_one(driver):
            run = on_asyncpg.run_async
        elif on_psycopg.is_one(driver) and on_psycopg.must_be_awaited(driver):
            run = on_psycopg.run_async
        elif on_psycopg.is_one(driver):
            raise InvalidInput(
                "the connection cannot be awaited",
                field="connection",
                hint="Use scheduler.transactions.trigger(…)",
            )
        else:
            raise _unknown(driver)
        if self._request is None:
            self._request = await self._learn()
        return await run(driver, self._request.steps(project, job_key, make))

    async def _learn(self) -> Request:
        """Ask the store itself, beside its pool: that one belongs to the scheduler's loop."""
        where = self.database.location.name
        try:
            connection = await self.database.connect()
            try:
                session = Session(connection, self.database.sql)
                database, has_tables = await session.row("whereabouts")
                if not has_tables:
                    raise StoreRefused(f"{where} has no tables yet; start the scheduler once")
                await session.run("make_identity", f"{SystemRandom().getrandbits(128):032x}")
                identity = await session.value("identity")
            finally:
                await connection.close()
        except DRIVER as error:
            raise translate(error, where) from error
        return Request(
            sql=self.database.sql,
            cache=self.cache,
            where=where,
            database=database,
            identity=identity,
            channel=self.database.location.channel,
        )


def _unknown(connection: Any) -> InvalidInput:
    kind = type(connection)
    return InvalidInput(
        f"{kind.__module__}.{kind.__name__} is not a connection that Tickwell supports",
        field="connection",
        hint="Pass one of asyncpg, psycopg 3, or SQLAlchemy on one of them",
    )
