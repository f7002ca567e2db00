"""Deadlocks, lost connections, waits that take too long, and values that nobody can store."""

import asyncio
from contextlib import suppress

import asyncpg
import pytest

from tests.servers.schemas import somebody_waits
from tests.stores.cut import until_connected
from tickwell.domain.execution import OutcomeKind, State
from tickwell.domain.trigger import OnDemand
from tickwell.errors import StoreRefused, StoreUnavailable
from tickwell.stores.postgres import PostgresStore
from tickwell.stores.postgres.errors import DRIVER
from tickwell.testing.contract.builders import T0, a_request
from tickwell.testing.contract.scene import Scene, report


async def test_what_the_server_undid_is_done_again_from_the_start(store):
    tries = []

    async def work(session):
        tries.append(1)
        if len(tries) < 4:
            raise asyncpg.DeadlockDetectedError("deadlock detected")
        return await session.value("time")

    assert await store.database.write(work) > 0
    assert len(tries) == 4


async def test_what_stays_undone_is_said(store):
    async def work(session):
        raise asyncpg.SerializationError("could not serialize access")

    with pytest.raises(StoreUnavailable, match="could not serialize"):
        await store.database.write(work)


async def test_a_table_that_is_changed_meanwhile(owner, place):
    """As a newer version does while this one runs: its prepared statements hold no more."""
    await owner.execute("DROP SCHEMA IF EXISTS changing CASCADE")
    store = PostgresStore.from_url(place.replace("stores", "changing") + "&pool=1")
    await store.open()
    scene = Scene(store)
    job = await scene.job(trigger=OnDemand())
    await scene.run(a_request(job, T0))
    for change in ("cursor ALTER version TYPE bigint", "running ADD COLUMN more integer"):
        await owner.execute(f"ALTER TABLE changing.{change}")
        await scene.run(a_request(job, T0))
        await scene.succeed(await scene.claim(T0), T0)
    assert await scene.states() == [State.SUCCEEDED] * 3
    await store.close()
    await owner.execute("DROP SCHEMA changing CASCADE")


async def test_a_lock_that_is_not_given_back_is_not_waited_for(scene, place, owner):
    job = await scene.job(trigger=OnDemand())
    store = PostgresStore.from_url(place + "&lock_timeout=0.2")
    await store.open()
    async with owner.transaction():
        await owner.execute("SELECT 1 FROM stores.cursor FOR UPDATE")
        with pytest.raises(StoreUnavailable, match="kept a row locked for too long"):
            await store.add_executions([a_request(job, T0)], T0, 0)
    assert len(await store.add_executions([a_request(job, T0)], T0, 0)) == 1
    await store.close()


async def test_a_statement_that_somebody_cancels_is_not_said_to_be_slow_alone(store, owner):
    async def wait(session):
        pid = session.connection.get_server_pid()
        waiting = asyncio.create_task(session.connection.execute("SELECT pg_sleep(600)"))
        active = (
            "SELECT state = 'active' AND query LIKE '%600%' FROM pg_stat_activity WHERE pid = $1"
        )
        while not await owner.fetchval(active, pid):
            pass
        await owner.execute("SELECT pg_cancel_backend($1)", pid)
        await waiting

    with pytest.raises(StoreUnavailable, match="statement timeout, or an admin cancelled it"):
        await store.database.write_one(wait)


async def test_connections_that_were_cut_are_made_anew(scene, store, owner):
    await scene.job()
    await owner.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE application_name = 'tickwell' AND pid <> pg_backend_pid()"
    )
    await until_connected(store)


async def cut(session, owner):
    """Have the server end the connection, and wait until it has."""
    pid = session.connection.get_server_pid()
    await owner.execute("SELECT pg_terminate_backend($1)", pid)
    while True:
        await session.value("time")


async def test_a_transaction_that_is_cut_says_so(store, owner):
    words = r"ended the connection|is shutting down|closed in the middle"
    with pytest.raises(StoreUnavailable, match=words):
        await store.database.write(lambda session: cut(session, owner))


async def test_who_is_cancelled_after_the_connection_was_cut_is_cancelled(store, owner):
    async def work(session):
        with suppress(*DRIVER):
            await cut(session, owner)
        with suppress(asyncpg.InterfaceError):
            for _ in range(50):  # as a rule the pool takes it back, which refuses this
                session.connection.is_closed()
                await asyncio.sleep(0.01)
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await store.database.write(work)
    assert await store.ping() > 0


async def test_a_connection_to_a_replica_is_not_kept(scene, place):
    """During a failover the primary's name may lead to one for a moment."""
    store = PostgresStore.from_url(place + "&pool=1")
    await store.open()
    await store.database.write_one(
        lambda session: session.connection.execute("SET default_transaction_read_only = on")
    )
    job = await scene.job(trigger=OnDemand())
    with pytest.raises(StoreRefused, match="is read-only, as a replica is"):
        await store.add_executions([a_request(job, T0)], T0, 0)
    assert len(await store.add_executions([a_request(job, T0)], T0, 0)) == 1
    await store.close()


async def test_no_connection_is_kept_up_by_the_driver(store):
    # It would log a traceback for each that it cannot make during an outage.
    assert store.database._pool.get_min_size() == 0
    assert store.database._pool.get_idle_size() == 1


async def test_a_cancelled_call_leaves_no_transaction_behind(scene, store, owner):
    job = await scene.job(trigger=OnDemand())
    async with owner.transaction():
        await owner.execute("SELECT 1 FROM stores.cursor FOR UPDATE")
        call = asyncio.create_task(store.add_executions([a_request(job, T0)], T0, 0))
        await somebody_waits()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    assert await scene.states() == []
    assert len(await scene.run(a_request(job, T0))) == 1


async def test_one_that_cannot_be_stored_does_not_fail_its_neighbours(scene):
    job = await scene.job(trigger=OnDemand())
    await scene.run(*(a_request(job, T0) for _ in range(9)))
    claims = await scene.claim(T0)
    reports = [report(claim, OutcomeKind.SUCCEEDED, T0) for claim in claims]
    reports[4].started_at = 2**70  # no column is as wide
    with pytest.raises(Exception, match="out of"):
        await scene.store.finish(reports, T0)
    assert sorted(await scene.states()) == [State.RUNNING] + [State.SUCCEEDED] * 8


async def test_an_error_that_cannot_be_stored_is_left_out(scene, store, monkeypatch):
    job = await scene.job(trigger=OnDemand())
    await scene.run(*(a_request(job, T0) for _ in range(9)))
    claims = await scene.claim(T0)
    reports = [report(claim, OutcomeKind.FAILED, T0, retry=False, error="e") for claim in claims]
    reports[4].error = "bad"
    real = store.reports._finish

    async def finish(some, now):
        if any(one.error == "bad" for one in some):
            await store.database.write_one(
                lambda session: session.connection.fetchval("SELECT chr(0)")
            )
        return await real(some, now)

    monkeypatch.setattr(store.reports, "_finish", finish)
    assert (await store.finish(reports, T0)).refused == []
    errors = [(await scene.execution(claim)).error for claim in claims]
    assert errors[:4] + errors[5:] == ["e"] * 8
    assert errors[4].startswith("its error cannot be stored")
