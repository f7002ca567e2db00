"""Connections that no run can be asked for on, and runs that nobody can have."""

from urllib.parse import urlsplit

import asyncpg
import psycopg
import pytest

from tests.servers.postgres import server
from tests.servers.schemas import run, url
from tests.transactional.postgres.connections import (
    ASYNC,
    SCHEMA,
    SYNC,
    Connections,
    every_kind,
    insert,
    orders,
    trigger,
)
from tests.transactional.shop import runs, scheduler_on
from tickwell import Scheduler
from tickwell.errors import InvalidInput, InvalidPayload, StoreRefused


async def test_without_a_transaction_it_is_refused(quiet):
    connection = await asyncpg.connect(server().url)
    with pytest.raises(InvalidInput, match="no transaction is open"):
        await quiet.transactions.trigger_async(connection, "send_email")
    await connection.close()
    with psycopg.connect(server().url, autocommit=True) as given:
        with pytest.raises(InvalidInput, match="no transaction is open"):
            quiet.transactions.trigger(given, "send_email")
        with given.transaction():
            id = quiet.transactions.trigger(given, "send_email")
    assert await runs(quiet) == {id}


async def test_another_database_is_refused(quiet):
    await run("DROP DATABASE IF EXISTS elsewhere")
    await run("CREATE DATABASE elsewhere")
    elsewhere = urlsplit(server().url)._replace(path="/elsewhere").geturl()
    for has_tables in (False, True):
        if has_tables:
            other = scheduler_on(f"{elsewhere}?schema={SCHEMA}")
            await other.start()
            await other.stop()
        with psycopg.connect(elsewhere) as connection:
            with pytest.raises(StoreRefused, match="in the same database only"):
                quiet.transactions.trigger(connection, "send_email")
            # The caller's transaction is as good as before.
            assert connection.execute("SELECT 1").fetchone() == (1,)
    # A connection that was closed here may take a moment to be gone there.
    while await run("SELECT 1 FROM pg_stat_activity WHERE datname = 'elsewhere'"):
        pass
    await run("DROP DATABASE elsewhere")


async def test_a_schema_without_our_tables_is_refused(quiet):
    lost = Scheduler(url("transactional_lost"))
    with (
        psycopg.connect(server().url) as connection,
        pytest.raises(StoreRefused, match="start the scheduler once"),
    ):
        lost.transactions.trigger(connection, "send_email")


async def test_the_wrong_kind_is_refused(quiet):
    for wrong in ("orders", object()):
        with pytest.raises(InvalidInput, match="not a connection that Tickwell supports"):
            quiet.transactions.trigger(wrong, "send_email")
        with pytest.raises(InvalidInput, match="not a connection that Tickwell supports"):
            await quiet.transactions.trigger_async(wrong, "send_email")
    for kind in ASYNC:
        async with getattr(Connections, kind)() as (connection, _):
            with pytest.raises(InvalidInput, match="has to be awaited"):
                quiet.transactions.trigger(connection, "send_email")
    for kind in SYNC:
        async with getattr(Connections, kind)() as (connection, _):
            with pytest.raises(InvalidInput, match="cannot be awaited"):
                await quiet.transactions.trigger_async(connection, "send_email")


@every_kind
async def test_arguments_that_the_handler_does_not_take_are_refused(scheduler, kind):
    async with getattr(Connections, kind)() as (connection, execute):
        await insert(kind, execute)
        with pytest.raises(InvalidPayload):
            await trigger(scheduler, kind, connection, "send_email", {"order": "soon"})
    assert await orders() == [1]
    assert await runs(scheduler) == set()
