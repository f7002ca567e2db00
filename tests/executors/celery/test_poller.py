"""The thread that reads results, without a backend."""

import asyncio
import threading

from tests.executors.running import DEADLINE
from tickwell.executors.celery.poller import Poller
from tickwell.testing.clock import ManualClock


async def test_it_is_closed_when_the_read_under_way_has_ended():
    begun, go, ended = threading.Event(), threading.Event(), []

    def read(ids):
        begun.set()
        ended.append(go.wait(DEADLINE))
        return {}

    poller = Poller(ManualClock(0), read)
    waiting = asyncio.create_task(poller.wait("task"))
    assert await asyncio.to_thread(begun.wait, DEADLINE)
    closing = asyncio.create_task(poller.close())
    for _ in range(20):
        await asyncio.sleep(0)
    assert not closing.done()
    go.set()
    await closing
    assert ended == [True]
    waiting.cancel()
