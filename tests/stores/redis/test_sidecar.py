"""A Redis beside another store: it wakes, it says who plans, and nothing depends on it."""

import asyncio

import pytest

from tests.servers.redis import start
from tickwell.domain.execution import State
from tickwell.domain.gate import Overlap
from tickwell.domain.trigger import Every, OnDemand
from tickwell.errors import InvalidSetting
from tickwell.settings import Settings
from tickwell.stores.redis.sidecar import RedisNotifier
from tickwell.testing.contract.builders import T0, a_request, minute
from tickwell.testing.contract.scene import Scene
from tickwell.wiring import make_notifying_store


@pytest.fixture
def server():
    return start()


@pytest.fixture
async def pair(tmp_path, server):
    """Two processes' worth of one SQLite file, with a Redis beside it."""
    url = f"sqlite:///{tmp_path / 'jobs.db'}"
    # The planner's lease lasts as long: nobody's ends by itself on a busy machine.
    settings = Settings(store=url, notify=server.url, poll="30s")
    stores = [make_notifying_store(url, settings) for _ in range(2)]
    for store in stores:
        await store.open()
    yield stores
    for store in stores:
        await store.close()


async def listening(store):
    if not store.notifier.hears:
        assert await store.notifier.changed(30)  # what was written before went unheard
    return asyncio.create_task(store.notifier.changed(30))


def turns(server, count=2, lease=30.0, store="a"):
    return [RedisNotifier(server.url, store, lease) for _ in range(count)]


async def test_a_write_of_one_process_wakes_the_others(pair):
    one, other = Scene(pair[0]), pair[1]
    waiting = await listening(other)
    job = await one.job("a", trigger=OnDemand())
    assert await waiting
    waiting = await listening(other)
    await one.run(a_request(job, T0))
    assert await waiting


async def test_it_is_the_same_store_otherwise(pair):
    scene = Scene(pair[0])
    job = await scene.job(trigger=Every("1m"), overlap=Overlap.QUEUE_ALL)
    await scene.fire(minute(1))
    await scene.succeed(await scene.claim(minute(1)), minute(1))
    assert await scene.states(job) == [State.SUCCEEDED]
    assert pair[0].name.startswith("sqlite:")
    assert pair[0].promises.store == "SQLite"


async def test_one_planner_at_a_time(server):
    first, second = turns(server)
    assert await first.rest() == 0
    assert 0 < await second.rest() <= 30
    assert await first.rest() == 0
    await first.close()  # which gives the lease up
    assert await second.rest() == 0
    await second.close()


async def test_a_lease_ends_by_itself(server):
    first, second = turns(server, lease=0.05)
    assert await first.rest() == 0
    rests = 0
    while rest := await second.rest():
        rests += 1
        await asyncio.sleep(rest)
    assert rests <= 3
    await asyncio.gather(first.close(), second.close())


async def test_stores_that_share_a_redis_do_not_wait_for_each_other(server):
    [one], [other] = turns(server, 1, store="a"), turns(server, 1, store="b")
    assert (await one.rest(), await other.rest()) == (0, 0)
    await asyncio.gather(one.close(), other.close())


@pytest.mark.parametrize("fault", ["gone", "flushed", "frozen"])
async def test_without_it_everybody_plans_and_looks(pair, server, fault):
    holder, waiting = (store.notifier for store in pair)
    assert await holder.rest() == 0
    assert await waiting.rest() > 0
    if fault == "gone":
        server.kill()
    elif fault == "flushed":
        await waiting._run("FLUSHALL")
    else:
        server.freeze()
    assert await waiting.rest() == 0
    if fault != "flushed":
        assert await holder.rest() == 0
    # Nothing that the store does fails, waits or doubles.
    scenes = [Scene(store) for store in pair]
    job = await scenes[0].job(trigger=Every("1m"))
    await asyncio.gather(*(scene.fire(minute(1)) for scene in scenes))
    assert await scenes[0].fire_times(job) == [minute(1)]
    assert await pair[1].changed(5.0)  # by the file itself, or by the regular look
    server.thaw()


async def test_a_url_that_cannot_be_meant():
    with pytest.raises(InvalidSetting, match="notify: this is no URL of Redis"):
        make_notifying_store("sqlite:///x.db", Settings(notify="http://localhost"))


async def test_memory_needs_none():
    store = make_notifying_store("memory://", Settings(notify="redis://localhost"))
    assert store.name == "memory://"
