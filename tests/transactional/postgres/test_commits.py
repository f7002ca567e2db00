"""A run asked for on a connection to PostgreSQL belongs to that connection's transaction."""

import asyncio
from dataclasses import replace
from pathlib import Path
from random import Random

import psycopg
import pytest

from tests.servers.postgres import server
from tests.servers.schemas import empty, run, url
from tests.transactional.postgres.connections import (
    ORDERS,
    SCHEMA,
    Connections,
    Taken,
    every_kind,
    insert,
    orders,
    trigger,
)
from tests.transactional.shop import TABLE, runs, scheduler_on, until
from tickwell.declared.internals import internals
from tickwell.domain.gate import Concurrency
from tickwell.domain.job import Cursor, Entry
from tickwell.domain.target import Call
from tickwell.errors import Conflict, NotFound
from tickwell.ids import new_id


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


@every_kind
async def test_the_same_key_with_another_payload_is_a_conflict(quiet, kind):
    async with getattr(Connections, kind)() as (connection, _):
        first = await trigger(quiet, kind, connection, "send_email", {"order": 1}, key="order-1")
        with pytest.raises(Conflict, match=f"belongs to execution {first}"):
            await trigger(quiet, kind, connection, "send_email", {"order": 2}, key="order-1")
    assert await runs(quiet) == {first}  # the transaction went on, and committed


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


async def test_a_gate_lets_one_through(quiet):
    only_one = Concurrency(key="printer", limit=1)
    await quiet.add_job("print", None, Call("print"), concurrency=only_one)
    async with Connections.asyncpg() as (connection, _):
        ids = [await quiet.transactions.trigger_async(connection, "print") for _ in range(2)]
    now = await internals(quiet).store.ping()
    await internals(quiet).store.promote(now, 0, 100)
    states = [(await quiet.get_execution(id)).state for id in ids]
    assert states == ["queued", "blocked"]


async def test_the_job_counts_its_executions_before_it_is_pruned(quiet):
    job = (await internals(quiet).jobs.get("default", "send_email")).job
    for _ in range(3):
        async with Connections.asyncpg() as (connection, _):
            await quiet.transactions.trigger_async(connection, "send_email")
    now = await internals(quiet).store.ping()
    await internals(quiet).store.prune(now, 2)
    [(made, prune_at)] = await run(f"SELECT made, prune_at FROM {SCHEMA}.cursor")
    assert made == 3
    assert prune_at is not None
    assert prune_at <= now + job.retention.age
    assert await run(f"SELECT * FROM {SCHEMA}.record") == []


async def test_a_job_is_known_by_its_id_too(quiet):
    job = (await internals(quiet).jobs.get("default", "send_email")).job
    with psycopg.connect(server().url) as connection:
        id = quiet.transactions.trigger(connection, job.id)
        with pytest.raises(NotFound):
            quiet.transactions.trigger(connection, id)
    assert await runs(quiet) == {id}


async def test_the_id_of_a_job_wins_over_a_name(quiet):
    job = (await internals(quiet).jobs.get("default", "send_email")).job
    # Names like this were once taken.
    namesake = replace(job, id=new_id(1, Random(1)), name=job.id, dedupe_key=None)
    await internals(quiet).store.add_jobs([Entry(namesake, Cursor())], 1)
    with psycopg.connect(server().url) as connection:
        id = quiet.transactions.trigger(connection, job.id)
    assert (await quiet.get_execution(id)).job_id == job.id


def test_no_scheduler_has_to_be_open_here():
    async def prepare():
        await empty(SCHEMA)
        async with scheduler_on(url(SCHEMA)):
            pass

    asyncio.run(prepare())
    with psycopg.connect(server().url) as connection:
        scheduler_on(url(SCHEMA)).transactions.trigger(connection, "send_email", {"order": 1})
    assert len(asyncio.run(run(f"SELECT * FROM {SCHEMA}.queue"))) == 1


async def test_the_rights_on_the_page_are_enough(quiet):
    text = (Path(__file__).parents[3] / "docs" / "transactions.md").read_text("utf-8")
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
