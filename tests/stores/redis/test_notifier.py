"""Wake-ups: heard from other processes, not from ourselves, and polled for where none come."""

import asyncio
import time

from tests.servers.redis import start
from tests.servers.redis_keys import url
from tickwell.domain.trigger import OnDemand
from tickwell.stores.bell import APART
from tickwell.stores.redis import RedisStore
from tickwell.testing.contract.builders import T0, a_request


async def listening(store):
    """A wait of who hears others. What they wrote before went unheard, so the first one ends."""
    assert await store.changed(30)
    assert store.client.ear.hears
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


async def test_many_writes_ring_few_times(scene, store, keys):
    heard = keys.pubsub()
    heard.subscribe(store.client.bell.channel)
    began = time.monotonic()
    job = await scene.job(trigger=OnDemand())
    for _ in range(100):
        await scene.run(a_request(job, T0))
    messages = 0
    async with asyncio.timeout(100):
        while (message := heard.get_message(timeout=0.05)) or not messages:
            messages += message is not None and message["type"] == "message"
            await asyncio.sleep(0)
    heard.close()
    assert messages <= 2 + (time.monotonic() - began) / APART


async def test_a_wait_in_vain_says_so(store):
    assert await store.changed(30)
    assert not await store.changed(0.05)


async def test_a_server_that_goes_wakes_us_and_is_heard_again(store):
    made = start()
    lonely, writer = (RedisStore.from_url(url("heard", made)) for _ in range(2))
    await lonely.open()
    waiting = await listening(lonely)
    made.kill()
    assert await waiting
    assert not lonely.client.ear.hears
    assert await lonely.changed(0.05)  # nothing can be heard: everybody looks
    made.run()
    lonely.client.ear._retry_at = 0.0
    waiting = await listening(lonely)
    await lonely.close()
    assert not await waiting
    await writer.close()


async def test_a_connection_that_died_without_a_word_is_given_up():
    made = start()
    store = RedisStore.from_url(url("silent", made))
    await store.open()
    assert await store.changed(30)
    assert not await store.changed(0.01)
    made.freeze()
    assert await store.changed(0.01)  # woken to look, since the ear got no answer
    assert not store.client.ear.hears
    made.thaw()
    await store.close()
