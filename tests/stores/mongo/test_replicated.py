"""A replica set: majority writes, and wake-ups by change stream from other processes only."""

import asyncio
import logging

import pytest

from tests.servers.mongo import empty, replica
from tickwell.domain.promises import MONGODB, MONGODB_STANDALONE
from tickwell.stores.mongo import MongoStore
from tickwell.testing.contract.scene import Scene


@pytest.fixture
def place():
    return replica().url("stores", replicaSet="rs0")


async def listening(store):
    """A wait of who hears others. What they wrote before went unheard, so the first one ends."""
    assert await store.changed(30)
    assert store.client.ear.hears
    return asyncio.create_task(store.changed(30))


async def test_another_process_wakes_us(scene, other):
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


async def test_acknowledged_means_a_majority(store):
    concern = store.client.database.client.write_concern.document
    assert concern == {"w": "majority", "j": True}
    assert store.promises == MONGODB


async def test_a_standalone_polls_and_says_so(caplog):
    from tests.servers.mongo import server

    url = server().url("stores")
    empty(url)
    store = MongoStore.from_url(url)
    await store.open()
    with caplog.at_level(logging.WARNING):
        assert await store.changed(0.01)  # the first look
        assert not await store.changed(0.01)
    assert caplog.text.count("is unavailable") == 1
    assert store.promises == MONGODB_STANDALONE
    await store.close()


async def test_several_at_once_make_one_database():
    with replica().client() as client:
        client.drop_database("fresh")
    stores = [MongoStore.from_url(replica().url("fresh")) for _ in range(4)]
    await asyncio.gather(*(store.open() for store in stores))
    await Scene(stores[0]).job("one")
    assert [entry.job.name for entry in await stores[3].get_jobs("default", ["one"])] == ["one"]
    await asyncio.gather(*(store.close() for store in stores))
