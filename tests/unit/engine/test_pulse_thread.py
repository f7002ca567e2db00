import asyncio
import threading

import pytest

from tickwell.domain.event import Events
from tickwell.engine.liveness.pulse import Pulse, PulseThread
from tickwell.errors import StoreUnavailable
from tickwell.settings import Settings
from tickwell.stores.memory import MemoryStore
from tickwell.testing.clock import ManualClock
from tickwell.testing.contract.builders import a_worker


class Away(MemoryStore):
    """Dials, and is not answered."""

    closed = 0

    async def open(self):
        raise StoreUnavailable("the store is away")

    async def close(self):
        Away.closed += 1


def a_thread(open_store):
    settings = Settings(store="memory://")
    pulse = Pulse(MemoryStore(), ManualClock(), settings, a_worker, lambda *_: None)
    return PulseThread(pulse, open_store, Events())


async def test_a_store_that_could_not_be_opened_leaves_no_connection_behind():
    thread = a_thread(Away)
    before = Away.closed
    for times in (1, 2):
        with pytest.raises(StoreUnavailable):
            await thread.step()
        assert Away.closed == before + times


class Slow(MemoryStore):
    """Is open when the test says so."""

    def __init__(self):
        super().__init__()
        self.dialled, self.answers = threading.Event(), threading.Event()

    async def open(self):
        self.dialled.set()
        await asyncio.to_thread(self.answers.wait)
        await super().open()


async def test_it_has_its_connection_before_the_other_services_start():
    store = Slow()
    thread = a_thread(lambda: store)
    starting = asyncio.create_task(thread.start())
    await asyncio.to_thread(store.dialled.wait)
    assert not starting.done()
    store.answers.set()
    await starting
    assert thread.pulse.store is store
    await thread.stop()


async def test_a_store_that_is_away_does_not_hold_the_start_up():
    thread = a_thread(Away)
    await thread.start()
    await thread.stop()
