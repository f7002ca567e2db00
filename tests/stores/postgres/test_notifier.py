"""Wake-ups: heard from other processes, not from ourselves, and polled for where none come."""

import asyncio
import logging
import time

import asyncpg
import pytest

from tickwell.domain.trigger import OnDemand
from tickwell.stores.bell import APART
from tickwell.stores.postgres import PostgresStore
from tickwell.testing.contract.builders import T0, a_request


@pytest.fixture
async def other(store, place):
    other = PostgresStore.from_url(place)
    await other.open()
    yield other
    await other.close()


async def listening(store):
    """A wait of who hears others. What they wrote before went unheard, so the first one ends."""
    assert await store.changed(30)
    assert store._ear.hears
    return asyncio.create_task(store.changed(30))


async def test_another_process_wakes_us(scene, store, other):
    waiting = await listening(other)
    await scene.job()
    assert await waiting


async def test_our_own_writes_do_not_wake_us(scene, store):
    waiting = await listening(store)
    await scene.job()
    done, _ = await asyncio.wait([waiting], timeout=0.3)
    assert not done
    await store.close()
    assert not await waiting


async def test_many_writes_ring_few_times(scene, store, owner, other):
    heard: asyncio.Queue = asyncio.Queue()
    await owner.add_listener(store.bell.channel, lambda *args: heard.put_nowait(args))
    began = time.monotonic()
    job = await scene.job(trigger=OnDemand())
    for _ in range(100):
        await scene.run(a_request(job, T0))
    async with asyncio.timeout(100):
        await heard.get()
    assert heard.qsize() <= 1 + (time.monotonic() - began) / APART


async def test_nothing_to_tell_is_not_told(scene, store, owner):
    heard: asyncio.Queue = asyncio.Queue()
    await owner.add_listener(store.bell.channel, lambda *args: heard.put_nowait(args[-1]))
    await scene.fire(T0)
    await scene.promote(T0)
    await scene.claim(T0)
    await store.bell.close()  # what is still to be told is told by this
    await owner.execute(f"NOTIFY {store.bell.channel}, 'the end'")
    assert await heard.get() == "the end"


async def test_behind_a_pooler_it_polls_and_says_so(place, caplog):
    store = PostgresStore.from_url(place + "&pooler=transaction")
    await store.open()
    with caplog.at_level(logging.WARNING):
        assert await store.changed(0.01)
        assert await store.changed(0.01)
    assert caplog.text.count("is unavailable") == 1
    assert not store._ear.hears
    await store.close()


async def test_a_listener_that_was_cut_off_listens_again(scene, store, other, owner):
    waiting = await listening(other)
    await owner.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
    )
    assert await waiting  # something may have been missed
    waiting = await listening(other)
    await scene.job()
    assert await waiting


async def test_a_lost_connection_is_no_reason_to_stay_deaf(store, monkeypatch, caplog):
    async def refuse():
        raise asyncpg.TooManyConnectionsError("too many")

    monkeypatch.setattr(store.database, "connect", refuse)
    with caplog.at_level(logging.WARNING):
        assert await store.changed(0.01)
    assert "too many" in caplog.text
    monkeypatch.undo()
    store._ear._deaf_until = 0.0
    waiting = await listening(store)
    await store.close()
    assert not await waiting


@pytest.mark.parametrize("is_refused", [True, False])
async def test_a_connection_that_nobody_listens_on_is_closed(store, monkeypatch, is_refused):
    """A replica takes no listeners; and who closes meanwhile wants to hear no more."""
    connection = await store.database.connect()
    asked, given = asyncio.Event(), asyncio.Event()

    async def connect():
        asked.set()
        await given.wait()
        return connection

    monkeypatch.setattr(store.database, "connect", connect)
    waiting = asyncio.create_task(store.changed(0.01))
    await asked.wait()
    if is_refused:
        with pytest.raises(asyncpg.DivisionByZeroError):
            await connection.execute("BEGIN; SELECT 1 / 0")
    else:
        await store.close()
    given.set()
    assert await waiting == is_refused
    assert connection.is_closed()
