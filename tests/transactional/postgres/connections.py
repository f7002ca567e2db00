"""Transactions of each kind of connection to PostgreSQL, and a shop's orders in them."""

from contextlib import asynccontextmanager

import asyncpg
import psycopg
import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool

from tests.servers.postgres import server
from tests.servers.schemas import run

SCHEMA = "transactional"
ORDERS = f"{SCHEMA}.orders"
INSERT = f"INSERT INTO {ORDERS} VALUES (1)"


async def orders():
    return [number for (number,) in await run(f"SELECT number FROM {ORDERS}")]


def alchemy(driver):
    return server().url.replace("postgresql://", f"postgresql+{driver}://")


class Taken(Exception):
    """The caller changes its mind."""


class Connections:
    """A transaction of each kind: the end of the block commits it, an error rolls it back."""

    @staticmethod
    @asynccontextmanager
    async def asyncpg():
        connection = await asyncpg.connect(server().url)
        try:
            async with connection.transaction():
                yield connection, connection.execute
        finally:
            await connection.close()

    @staticmethod
    @asynccontextmanager
    async def asyncpg_pool():
        async with (
            asyncpg.create_pool(server().url, min_size=1, max_size=1) as pool,
            pool.acquire() as connection,
            connection.transaction(),
        ):
            yield connection, connection.execute

    @staticmethod
    @asynccontextmanager
    async def psycopg_async():
        async with await psycopg.AsyncConnection.connect(server().url) as connection:
            yield connection, connection.execute

    @staticmethod
    @asynccontextmanager
    async def psycopg():
        with psycopg.connect(server().url, row_factory=psycopg.rows.dict_row) as connection:
            yield connection, connection.execute

    @staticmethod
    @asynccontextmanager
    async def sqlalchemy():
        engine = create_engine(alchemy("psycopg"), poolclass=NullPool)
        with engine.begin() as connection:
            yield connection, lambda sql: connection.execute(text(sql))

    @staticmethod
    @asynccontextmanager
    async def sqlalchemy_session():
        engine = create_engine(alchemy("psycopg"), poolclass=NullPool)
        with Session(engine) as session, session.begin():
            yield session, lambda sql: session.execute(text(sql))

    @staticmethod
    @asynccontextmanager
    async def sqlalchemy_asyncpg():
        engine = create_async_engine(alchemy("asyncpg"), poolclass=NullPool)
        async with engine.begin() as connection:
            yield connection, lambda sql: connection.execute(text(sql))

    @staticmethod
    @asynccontextmanager
    async def sqlalchemy_async_session():
        engine = create_async_engine(alchemy("psycopg"), poolclass=NullPool)
        async with AsyncSession(engine) as session, session.begin():
            yield session, lambda sql: session.execute(text(sql))


SYNC = ["psycopg", "sqlalchemy", "sqlalchemy_session"]
ASYNC = [
    *("asyncpg", "asyncpg_pool", "psycopg_async"),
    *("sqlalchemy_asyncpg", "sqlalchemy_async_session"),
]
every_kind = pytest.mark.parametrize("kind", [*SYNC, *ASYNC])


async def trigger(scheduler, kind, connection, *args, **options):
    if kind in SYNC:
        return scheduler.transactions.trigger(connection, *args, **options)
    return await scheduler.transactions.trigger_async(connection, *args, **options)


async def insert(kind, execute):
    done = execute(INSERT)
    if kind in ASYNC:
        await done
