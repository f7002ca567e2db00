"""The heartbeat: once a minute while all is well, and what is wrong once it has lasted."""

import random

from tickwell.domain.check_in import Sign
from tickwell.errors import StoreUnavailable
from tickwell.services.health import HealthReader
from tickwell.services.heartbeat import Heartbeat
from tickwell.stores.memory import MemoryStore
from tickwell.testing.clock import ManualClock


class Flaky(MemoryStore):
    is_away = False

    def __init__(self, clock):
        super().__init__()
        self.clock = clock

    async def ping(self):
        if self.is_away:
            raise StoreUnavailable("no answer")
        return self.clock.now()


class Told:
    def __init__(self):
        self.said = []

    def tell(self, claim, sign, log=""):
        assert claim.job.check_in == "https://hc.example/beat"
        self.said.append((sign, log))


async def test_it_beats_each_minute_and_reports_a_store_that_stays_away():
    clock, told = ManualClock(), Told()
    store = Flaky(clock)
    await store.open()
    url = "https://hc.example/beat"
    health = HealthReader(store, clock)
    health.wall = clock.now
    beat = Heartbeat(url, clock, health, told, random.Random(1))

    async def look(seconds):
        for _ in range(int(seconds // 15)):
            await clock.advance(await beat.step())

    await look(120)
    assert told.said == [(Sign.SUCCEEDED, "")] * 2
    store.is_away = True
    await look(45)  # a moment is no outage
    store.is_away = False
    await look(15)
    assert told.said == [(Sign.SUCCEEDED, "")] * 3
    store.is_away = True
    await look(60)
    assert len(told.said) == 3
    await look(75)
    assert len(told.said) == 5
    sign, log = told.said[-1]
    assert (sign, "no answer" in log) == (Sign.FAILED, True)
    store.is_away = False
    await look(60)
    assert told.said[-1] == (Sign.SUCCEEDED, "")
    await store.close()
