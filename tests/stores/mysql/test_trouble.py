"""Deadlocks, lost connections, waits that take too long, and values that nobody can store."""

import asyncio
from contextlib import asynccontextmanager

import asyncmy
import pytest
from asyncmy.errors import OperationalError

from tests.servers.mariadb import server
from tests.servers.mariadb_tables import kill_connections, run, somebody_waits
from tests.stores.cut import until_connected
from tickwell.domain.execution import OutcomeKind, State
from tickwell.domain.trigger import OnDemand
from tickwell.errors import StoreError, StoreRefused, StoreUnavailable
from tickwell.stores.mysql import MysqlStore
from tickwell.stores.mysql.url import parse
from tickwell.testing.contract.builders import T0, a_request
from tickwell.testing.contract.scene import report


@asynccontextmanager
async def locked(statement):
    """Somebody else's transaction, which takes rows and keeps them."""
    place = parse(server().url)
    connection = await asyncmy.connect(**place.driver, database=place.database)
    try:
        async with connection.cursor() as cursor:
            await cursor.execute(statement)
        yield cursor
        await connection.rollback()
    finally:
        await connection.ensure_closed()


@pytest.mark.parametrize("code", [1213, 1205, 1020])
async def test_what_came_to_nothing_is_done_again_from_the_start(store, code):
    tries = []

    async def work(session):
        tries.append(1)
        if len(tries) < 4:
            raise OperationalError(code, "try restarting transaction")
        return await session.value("time")

    assert await store.database.write(work) > 0
    assert len(tries) == 4


async def test_what_stays_undone_is_said(store):
    async def work(session):
        raise OperationalError(1213, "Deadlock found when trying to get lock")

    with pytest.raises(StoreUnavailable, match="Deadlock found"):
        await store.database.write(work)


async def test_a_real_deadlock_is_done_again(scene, store):
    """Two transactions that take the same two rows, each the other way round."""
    one, two = await scene.job(trigger=OnDemand()), await scene.job(trigger=OnDemand())
    meeting, tries = asyncio.Barrier(2), []

    def both(first, second):
        async def work(session):
            tries.append(1)
            await session.rows("lock_jobs", [first.id])
            if len(tries) <= 2:
                await meeting.wait()
            await session.rows("lock_jobs", [second.id])

        return store.database.write(work)

    await asyncio.gather(both(one, two), both(two, one))
    assert len(tries) == 3


async def test_a_lock_that_is_not_given_back_is_not_waited_for(scene, place, monkeypatch):
    monkeypatch.setattr("tickwell.stores.mysql.database.TRIES", 2)
    job = await scene.job(trigger=OnDemand())
    store = MysqlStore.from_url(place + "&lock_timeout=1")
    await store.open()
    async with locked("SELECT 1 FROM stores_cursor FOR UPDATE"):
        with pytest.raises(StoreUnavailable, match="kept a row locked for too long"):
            await store.add_executions([a_request(job, T0)], T0, 0)
    assert len(await store.add_executions([a_request(job, T0)], T0, 0)) == 1
    await store.close()


async def test_one_that_stands_still_in_a_transaction_loses_its_locks(scene, store, place):
    """As a process that is frozen: others would wait for it for eight hours."""
    job = await scene.job(trigger=OnDemand())
    frozen = MysqlStore.from_url(place + "&statement_timeout=1")
    await frozen.open()
    locked, never = asyncio.Event(), asyncio.Event()

    async def work(session):
        await session.rows("lock_jobs", [job.id])
        locked.set()
        await never.wait()

    standing = asyncio.create_task(frozen.database.write(work))
    await locked.wait()
    assert len(await store.add_executions([a_request(job, T0)], T0, 0)) == 1
    assert not standing.done()
    standing.cancel()
    await asyncio.wait([standing])
    await frozen.close()


async def test_connections_that_were_cut_are_made_anew(scene, store):
    await scene.job()
    assert await kill_connections() >= 1
    await until_connected(store)


async def test_a_cancelled_call_leaves_no_transaction_behind(scene, store):
    job = await scene.job(trigger=OnDemand())
    async with locked("SELECT 1 FROM stores_cursor FOR UPDATE"):
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
    reports[4].charged = 2**40  # no column is as wide
    with pytest.raises(StoreError, match="Out of range"):
        await scene.store.finish(reports, T0)
    assert sorted(await scene.states()) == [State.RUNNING] + [State.SUCCEEDED] * 8


async def test_a_result_that_the_server_does_not_take_is_left_out(scene):
    """One is larger than all that the server takes at once; the others are not lost with it."""
    job = await scene.job(trigger=OnDemand())
    await scene.run(*(a_request(job, T0) for _ in range(5)))
    claims = await scene.claim(T0)
    reports = [report(claim, OutcomeKind.SUCCEEDED, T0, result="r") for claim in claims]
    reports[2].result = "x" * 2**24
    assert (await scene.store.finish(reports, T0)).refused == []
    ends = [await scene.execution(claim) for claim in claims]
    assert [end.result for end in ends] == ["r", "r", None, "r", "r"]
    assert ends[2].error.startswith("its result cannot be stored")


async def test_a_payload_that_the_server_does_not_take_is_refused(scene):
    job = await scene.job(trigger=OnDemand())
    with pytest.raises(StoreRefused, match="raise its max_allowed_packet"):
        await scene.run(a_request(job, T0, payload="x" * 2**24))
    assert await scene.states() == []


async def test_the_servers_own_modes_do_not_matter(scene, place):
    """Of which two change what a quote means."""
    [(before,)] = await run("SELECT @@GLOBAL.sql_mode")
    await run("SET GLOBAL sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'")
    try:
        store = MysqlStore.from_url(place)
        await store.open()
    finally:
        await run("SET GLOBAL sql_mode = %s", before)
    text = 'a\\\' OR "1"=1 -- %s'
    job = await scene.job(trigger=OnDemand())
    [made] = await store.add_executions([a_request(job, T0, key=text, payload=text)], T0, 0)
    found = await store.get_execution("default", made)
    await store.close()
    assert found is not None
    assert (found.key, found.payload) == (text, text)


@pytest.mark.parametrize("text", ["a ", "A", "a\u00e9", "\U0001f980", "a'\"\\%s$1{x}", "\u202e"])
async def test_texts_come_back_as_they_were_given(scene, text):
    """Whatever the character set of the database: blanks, case, quotes and all planes count."""
    await run("ALTER DATABASE CHARACTER SET latin1")
    job = await scene.job(trigger=OnDemand(), payload={"text": text})
    [made] = await scene.run(a_request(job, T0, key=text))
    [again] = await scene.run(a_request(job, T0, key=text))
    [other] = await scene.run(a_request(job, T0, key="a"))
    assert made == again != other
    [claim] = [claim for claim in await scene.claim(T0) if claim.id == made]
    assert claim.payload == {"text": text}
