"""A standalone server: everybody looks at the bell, and is woken by the writes of others alone."""

import pytest

from tickwell.stores.mongo import notifier


@pytest.fixture(autouse=True)
def often(monkeypatch):
    monkeypatch.setattr(notifier, "POLL", 0.001)


async def told(store):
    """What the store wrote last is told to the others."""
    await store.client.bell._task


async def test_another_process_wakes_us_once(scene, store, other):
    assert await other.changed(5)  # the first look
    assert not await other.changed(5)
    await scene.job()
    await told(store)
    assert await other.changed(5)
    assert not await other.changed(5)


async def test_our_own_writes_do_not_wake_us(scene, store):
    await store.changed(5)
    await scene.job()
    await told(store)
    assert not await store.changed(5)


async def test_another_process_wakes_us_although_we_rang_after_it(scene, store, other):
    await store.changed(5)
    other.client.bell.ring()
    await told(other)
    await scene.job()
    await told(store)
    assert await store.changed(5)
    assert not await store.changed(5)


async def test_what_cannot_be_told_wakes_us(store):
    await store.changed(5)
    assert not await store.changed(5)
    await store.client.database.close()
    assert await store.changed(5)


async def test_a_bell_that_was_dropped_rings_again(scene, store, other, owner):
    await scene.job()
    await told(store)
    await other.changed(5)
    owner["bell"].drop()
    assert await other.changed(5)
    await scene.job()
    await told(store)
    assert await other.changed(5)
