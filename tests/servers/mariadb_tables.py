"""Tables for tests: emptied between tests, which is faster than made anew."""

import asyncio
from contextlib import suppress
from typing import Any

import asyncmy

from tests.servers.mariadb import server
from tickwell.stores.mysql.url import parse


def url(prefix="tickwell_", at=None):
    return f"{(at or server()).url}?prefix={prefix}"


async def run(statement, *parameters, at=None):
    """As the owner of the database, on a connection of its own; the rows of the last part."""
    place = parse((at or server()).url)
    connection = await asyncmy.connect(
        **place.driver, database=place.database, charset="utf8mb4", autocommit=True
    )
    try:
        async with connection.cursor() as cursor:
            await cursor.execute(statement, parameters or None)
            rows = await cursor.fetchall() if cursor.description else ()
            while await cursor.nextset():
                rows = await cursor.fetchall() if cursor.description else rows
            return rows
    finally:
        await connection.ensure_closed()


async def tables(prefix="tickwell_", at=None):
    """The tables that begin with a prefix, but for meta."""
    found = await run(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()", at=at
    )
    return [name for (name,) in found if name.startswith(prefix) and not name.endswith("_meta")]


async def empty(prefix="tickwell_", at=None):
    """Delete all rows but those of meta, if the tables are there."""
    deletes = [f"DELETE FROM {name}" for name in await tables(prefix, at)]
    if deletes:
        await run("; ".join(deletes), at=at)


async def drop(prefix: str, at: Any = None) -> None:
    """Take all tables of a prefix away."""
    names = [*await tables(prefix, at), f"{prefix}meta"]
    await run(f"DROP TABLE IF EXISTS {', '.join(names)}", at=at)


def empty_now(prefix="tickwell_", at=None):
    asyncio.run(empty(prefix, at))


async def kill_connections(at=None):
    """End all connections but the one that asks for it; how many there were."""
    others = await run(
        "SELECT id FROM information_schema.processlist"
        " WHERE id <> CONNECTION_ID() AND command <> 'Daemon' AND user = 'tickwell'",
        at=at,
    )
    ended = 0
    for (id,) in others:
        with suppress(asyncmy.errors.MySQLError):  # gone by itself
            await run(f"KILL CONNECTION {id}", at=at)
            ended += 1
    return ended


async def somebody_waits(at: Any = None) -> None:
    """Until one transaction stands before a lock of another."""
    # Not by `innodb_trx`: whoever reads that more often than every 0.1 s is shown the same again.
    waiting = "SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'"
    for _ in range(2000):
        ((_, count),) = await run(waiting, at=at)
        if int(count):
            return
        await asyncio.sleep(0.01)
    raise AssertionError("nobody waits for a lock")
