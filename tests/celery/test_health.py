"""Health with Celery as the engine: the broker is one of its checks."""

from tests.servers import redis
from tickwell.clock import StoreClock
from tickwell.domain.health import Level
from tickwell.services.health import TTL, HealthReader
from tickwell.settings import Settings
from tickwell.stores.memory import MemoryStore
from tickwell.wiring import health_links


class Moved(StoreClock):
    """So much later than now."""

    by = 0.0

    def monotonic(self):
        return super().monotonic() + self.by


async def test_a_broker_that_is_away_is_red_until_it_answers():
    broker, store, clock = redis.start(), MemoryStore(), Moved()
    await store.open()
    reader = HealthReader(store, clock)
    settings = Settings(store="memory://", engine="celery", broker=broker.url)
    reader.links = health_links(store, settings)

    async def level():
        clock.by += TTL
        found = (await reader.platform()).findings
        return next(each.level for each in found if each.check == "broker")

    try:
        assert await level() is Level.GREEN
        broker.kill()
        assert await level() is Level.RED
        broker.run()
        assert await level() is Level.GREEN
    finally:
        await reader.close()
        await store.close()
