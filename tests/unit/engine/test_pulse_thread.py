import pytest

from tickwell.domain.event import Events
from tickwell.engine.liveness.pulse import Pulse
from tickwell.engine.liveness.pulse_thread import PulseThread
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


async def test_a_store_that_could_not_be_opened_leaves_no_connection_behind():
    settings = Settings(store="memory://")
    pulse = Pulse(MemoryStore(), ManualClock(), settings, a_worker, lambda *_: None)
    thread = PulseThread(pulse, Away, Events())
    for times in (1, 2):
        with pytest.raises(StoreUnavailable):
            await thread.step()
        assert Away.closed == times
