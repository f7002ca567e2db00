"""Schemas for tests: emptied between tests, which is faster than made anew."""

import asyncio
from functools import cache
from typing import Any

import asyncpg
import psycopg

from tests.servers.postgres import server
from tests.servers.private import at_end


def url(schema="tickwell"):
    return f"{server().url}?schema={schema}"


async def run(statement):
    """As the owner of the database, on a connection of its own."""
    connection = await asyncpg.connect(server().url)
    try:
        return await connection.fetch(statement)
    finally:
        await connection.close()


async def empty(schema="tickwell", database=None):
    """Delete all rows but those of meta, if the schema is there."""
    owner = _owner(database or server().url)
    rows = owner.execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = %s AND tablename <> 'meta'", [schema]
    )
    deletes = [f'DELETE FROM "{schema}".{name}' for (name,) in rows]
    if deletes:
        owner.execute("; ".join(deletes))


@cache
def _owner(url: str) -> Any:
    """A connection that stays: to make one costs more than to delete a few rows."""
    connection = psycopg.connect(url, autocommit=True)
    at_end(connection.close)
    return connection


def empty_now(schema="tickwell"):
    asyncio.run(empty(schema))


async def somebody_waits():
    """Until one transaction stands before a lock of another."""
    for _ in range(2000):
        if await run("SELECT 1 FROM pg_locks WHERE NOT granted"):
            return
        await asyncio.sleep(0.01)
    raise AssertionError("nobody waits for a lock")
