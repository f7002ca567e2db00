"""A run asked for on a connection to PostgreSQL belongs to that connection's transaction."""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import psycopg
import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool

from tests.servers.postgres import server
from tests.servers.schemas import empty, run, somebody_waits, url
from tests.transactional.shop import TABLE, runs, scheduler_on, until
from tickwell import Scheduler
from tickwell.domain.gate import Concurrency
from tickwell.domain.target import Call
from tickwell.errors import InvalidInput, InvalidPayload, NotFound, StoreRefused

SCHEMA = "transactional"
ORDERS = f"{SCHEMA}.orders"
INSERT = f"INSERT INTO {ORDERS} VALUES (1)"


@pytest.fixture
async def scheduler():
    await empty(SCHEMA)
    scheduler = scheduler_on(url(SCHEMA))
    async with scheduler:
        await run(TABLE.format(ORDERS))
        yield scheduler


@pytest.fixture
async def quiet():
    """Nothing runs, so that everything stays where it is put."""
    await empty(SCHEMA)
    scheduler = Scheduler(url(SCHEMA))
    await scheduler.open()
    await scheduler.add("send_email", None, Call("send_email"))
    yield scheduler
    await scheduler.stop()


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


@every_kind
async def test_nothing_is_seen_before_the_commit_and_all_after_it(scheduler, kind):
    async with getattr(Connections, kind)() as (connection, execute):
        id = await trigger(scheduler, kind, connection, "send_email", {"order": 1})
        await insert(kind, execute)
        assert await runs(scheduler) == set()
        assert await orders() == []
    assert await runs(scheduler) == {id}
    assert await orders() == [1]
    # The commit itself tells the planner: it does not wait for its next look.
    await until(lambda: scheduler.sent == [1])


@every_kind
async def test_a_rollback_leaves_nothing(quiet, kind):
    await run(TABLE.format(ORDERS))

    async def order():
        async with getattr(Connections, kind)() as (connection, execute):
            await insert(kind, execute)
            await trigger(quiet, kind, connection, "send_email", {"order": 1}, key="order-1")
            raise Taken

    with pytest.raises(Taken):
        await order()
    assert await runs(quiet) == set()
    assert await orders() == []
    assert await run(f"SELECT * FROM {SCHEMA}.record") == []
    assert await run(f"SELECT * FROM {SCHEMA}.queue") == []


@every_kind
async def test_the_same_key_is_the_same_run(quiet, kind):
    ask = ("send_email", {"order": 1})
    async with getattr(Connections, kind)() as (connection, _):
        first = await trigger(quiet, kind, connection, *ask, key="order-1")
        assert await trigger(quiet, kind, connection, *ask, key="order-1") == first
    assert (await quiet.trigger(*ask, key="order-1")).id == first
    async with getattr(Connections, kind)() as (connection, _):
        assert await trigger(quiet, kind, connection, *ask, key="order-1") == first
    assert await runs(quiet) == {first}


async def test_two_transactions_with_one_key_are_one_run(quiet):
    async def second():
        async with Connections.asyncpg() as (connection, _):
            return await quiet.transactions.trigger_async(connection, "send_email", key="same")

    async with Connections.asyncpg() as (connection, _):
        first = await quiet.transactions.trigger_async(connection, "send_email", key="same")
        task = asyncio.create_task(second())
        await somebody_waits()
        assert not task.done()
    assert await task == first
    assert await runs(quiet) == {first}


async def test_an_open_transaction_holds_nobody_up(scheduler):
    async with Connections.asyncpg() as (connection, _):
        await scheduler.transactions.trigger_async(connection, "send_email", {"order": 2})
        await scheduler.trigger("send_email", {"order": 1})
        await until(lambda: scheduler.sent == [1])
        async with Connections.asyncpg() as (other, _):
            await scheduler.transactions.trigger_async(other, "send_email", {"order": 3})
        await until(lambda: scheduler.sent == [1, 3])
    await until(lambda: scheduler.sent == [1, 3, 2])


async def test_a_gate_lets_one_through(quiet):
    only_one = Concurrency(key="printer", limit=1)
    await quiet.add("print", None, Call("print"), concurrency=only_one)
    async with Connections.asyncpg() as (connection, _):
        ids = [await quiet.transactions.trigger_async(connection, "print") for _ in range(2)]
    now = await quiet._store.ping()
    await quiet._store.promote(now, 0, 100)
    states = [(await quiet.executions.get("default", id)).state for id in ids]
    assert states == ["queued", "blocked"]


async def test_a_deletion_meets_what_commits_before_it(quiet):
    async with Connections.asyncpg() as (connection, _):
        id = await quiet.transactions.trigger_async(connection, "send_email")
        deletion = asyncio.create_task(quiet.jobs.delete("default", ["send_email"]))
        await somebody_waits()
        assert not deletion.done()
    await deletion
    assert (await quiet.executions.get("default", id)).state == "cancelled"
    async with Connections.asyncpg() as (connection, _):
        with pytest.raises(NotFound):
            await quiet.transactions.trigger_async(connection, "send_email")


async def test_an_edit_meets_it_as_well(quiet):
    job = (await quiet.jobs.get("default", "send_email")).job
    async with Connections.asyncpg() as (connection, _):
        id = await quiet.transactions.trigger_async(connection, "send_email")
        edited = replace(job, queue="slow")
        edit = asyncio.create_task(quiet.jobs.edit("default", job.id, edited, job.version))
        await somebody_waits()
    await edit
    assert (await quiet.executions.get("default", id)).queue == "slow"


async def test_the_job_counts_its_executions_before_it_is_pruned(quiet):
    job = (await quiet.jobs.get("default", "send_email")).job
    for _ in range(3):
        async with Connections.asyncpg() as (connection, _):
            await quiet.transactions.trigger_async(connection, "send_email")
    now = await quiet._store.ping()
    await quiet._store.prune(now, 2)
    [(made, prune_at)] = await run(f"SELECT made, prune_at FROM {SCHEMA}.cursor")
    assert made == 3
    assert prune_at is not None
    assert prune_at <= now + job.retention.age
    assert await run(f"SELECT * FROM {SCHEMA}.record") == []


async def test_a_job_is_known_by_its_id_too(quiet):
    job = (await quiet.jobs.get("default", "send_email")).job
    with psycopg.connect(server().url) as connection:
        id = quiet.transactions.trigger(connection, job.id)
        with pytest.raises(NotFound):
            quiet.transactions.trigger(connection, id)
    assert await runs(quiet) == {id}


def test_no_scheduler_has_to_be_open_here():
    async def prepare():
        await empty(SCHEMA)
        async with scheduler_on(url(SCHEMA)):
            pass

    asyncio.run(prepare())
    with psycopg.connect(server().url) as connection:
        scheduler_on(url(SCHEMA)).transactions.trigger(connection, "send_email", {"order": 1})
    assert len(asyncio.run(run(f"SELECT * FROM {SCHEMA}.queue"))) == 1


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
    await run("DROP DATABASE elsewhere WITH (FORCE)")


async def test_a_schema_without_our_tables_is_refused(quiet):
    lost = Scheduler(url("transactional_lost"))
    with (
        psycopg.connect(server().url) as connection,
        pytest.raises(StoreRefused, match="start the scheduler once"),
    ):
        lost.transactions.trigger(connection, "send_email")


async def test_a_savepoint_takes_it_back(quiet):
    async def change_ones_mind(connection):
        async with connection.transaction():
            await quiet.transactions.trigger_async(connection, "send_email", key="order-1")
            raise Taken

    async with Connections.asyncpg() as (connection, _):
        with pytest.raises(Taken):
            await change_ones_mind(connection)
        id = await quiet.transactions.trigger_async(connection, "send_email", key="order-1")
    assert await runs(quiet) == {id}


async def test_the_rights_on_the_page_are_enough(quiet):
    text = (Path(__file__).parents[2] / "docs" / "transactions.md").read_text("utf-8")
    grants = [line for line in text.splitlines() if line.startswith("GRANT")]
    assert len(grants) == 5
    try:
        await run("CREATE ROLE shop")
        for grant in grants:
            await run(grant.replace("tickwell.", f"{SCHEMA}.").replace(" tickwell ", f" {SCHEMA} "))
        async with Connections.asyncpg() as (connection, _):
            await connection.execute("SET LOCAL ROLE shop")
            ask = ("send_email", {"order": 1})
            id = await quiet.transactions.trigger_async(connection, *ask, key="order-1")
            assert await quiet.transactions.trigger_async(connection, *ask, key="order-1") == id
        assert await runs(quiet) == {id}
    finally:
        await run("DROP OWNED BY shop")
        await run("DROP ROLE shop")


async def test_the_wrong_kind_is_refused(quiet):
    for wrong in ("orders", object()):
        with pytest.raises(InvalidInput, match="no connection that Tickwell knows"):
            quiet.transactions.trigger(wrong, "send_email")
        with pytest.raises(InvalidInput, match="no connection that Tickwell knows"):
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
