"""A database that was emptied behind our back halts us; an empty one is a beginning."""

import asyncio

import pytest

from tests.servers.redis_keys import client, empty
from tickwell.clock import StoreClock
from tickwell.domain.event import Events
from tickwell.errors import StoreLost, StoreRefused
from tickwell.executors.handlers import Handlers
from tickwell.ports.records import JobFilter
from tickwell.settings import Settings
from tickwell.stores.redis import RedisStore
from tickwell.stores.redis.client import Client
from tickwell.testing.contract.builders import T0, a_request, a_worker
from tickwell.wiring import leave_missing, make_engine, make_store

PREFIX = "stores"


async def calls_of(store, job):
    """One of each kind: reads and writes, hot and rare."""
    yield store.ping()
    yield store.fire_due(T0, 0, 10, lambda job, cursor: None)
    yield store.promote(T0, 0, 10)
    yield store.next_wakeup(T0)
    yield store.beat(a_worker("w1"), T0)
    yield store.add_executions([a_request(job, T0)], T0, 0)
    yield store.get_jobs("default", [job.id])
    yield store.stats()
    yield store.prune(T0, 10)


async def test_a_flushed_database_is_a_halt(scene, store):
    job = await scene.job()
    empty(PREFIX)
    async for call in calls_of(store, job):
        with pytest.raises(StoreLost, match="its epoch is gone"):
            await call
    with client() as keys:
        assert list(keys.scan_iter(f"{{{PREFIX}}}:*")) == []


async def test_another_database_in_its_place_is_a_halt(scene, store, keys):
    await scene.job()
    keys.set(f"{{{PREFIX}}}:epoch", "1:another")
    with pytest.raises(StoreLost):
        await store.ping()


async def test_no_store_of_this_process_begins_anew_meanwhile(store, place):
    empty(PREFIX)
    late = RedisStore.from_url(place)
    with pytest.raises(StoreLost):
        await late.open()
    await late.close()


async def test_a_restart_begins_with_what_is_there(store, place, keys):
    before = keys.get(f"{{{PREFIX}}}:epoch")
    empty(PREFIX)
    await store.close()
    again = RedisStore.from_url(place)
    await again.open()
    assert keys.get(f"{{{PREFIX}}}:epoch") not in {None, before}
    assert (await again.list_jobs(JobFilter())).items == []
    await again.close()


async def test_whoever_comes_to_look_begins_nothing(store, place, keys):
    empty(PREFIX)
    await store.close()
    looking = make_store(place)
    leave_missing(looking)
    with pytest.raises(StoreRefused, match="no Tickwell store in"):
        await looking.open()
    assert keys.get(f"{{{PREFIX}}}:epoch") is None


@pytest.mark.parametrize("known", [True, False], ids=["pulse", "worker"])
async def test_a_flush_while_a_process_opens_it_begins_nothing(
    store, place, keys, monkeypatch, known
):
    late = make_store(place)
    if not known:
        await store.close()
        leave_missing(late)
    opens = Client.call

    async def flushed_first(self, name, *arguments):
        empty(PREFIX)
        return await opens(self, name, *arguments)

    monkeypatch.setattr(Client, "call", flushed_first)
    with pytest.raises(StoreLost if known else StoreRefused):
        await late.open()
    assert keys.get(f"{{{PREFIX}}}:epoch") is None


async def test_two_that_start_at_once_agree(store, other, keys):
    assert store.client.epoch == other.client.epoch == keys.get(f"{{{PREFIX}}}:epoch").decode()


async def test_health_says_so(store, place):
    settings = Settings(store=place, sweep="100ms", poll="100ms")
    engine = make_engine(store, Handlers(), StoreClock(), settings, events=Events())
    await engine.start()
    assert engine.health().ok
    empty(PREFIX)
    problems: list[str] = []
    while not any("its epoch is gone" in problem for problem in problems):
        await asyncio.sleep(0.02)
        problems = engine.health().problems
    await engine.stop()
