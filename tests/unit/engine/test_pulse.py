"""The pulse: what it asks of a store that does not answer."""

import asyncio

import pytest

from tickwell.domain.worker import Pulse as Answer
from tickwell.engine.pulse import Pulse
from tickwell.errors import StoreUnavailable
from tickwell.settings import Settings
from tickwell.stores.memory import MemoryStore
from tickwell.testing.clock import ManualClock


class Silent(MemoryStore):
    """Takes a question and never answers."""

    async def ping(self):
        return await asyncio.Event().wait()


@pytest.mark.parametrize(("ttl", "beat"), [(30.0, 10.0), (6.0, 2.0), (60.0, 5.0)])
def test_the_second_of_two_beats_is_in_time(ttl, beat):
    settings = Settings(store="memory://", ttl=ttl, beat=beat)
    pulse = Pulse(MemoryStore(), ManualClock(), settings, lambda: None, lambda *_: None)
    assert beat + 2 * pulse.patience < 0.9 * ttl


async def test_a_beat_that_is_not_answered_fails_and_says_so():
    settings = Settings(store="memory://", ttl=0.6, beat=0.1)
    pulse = Pulse(Silent(), ManualClock(), settings, lambda: None, lambda *_: None)
    with pytest.raises(StoreUnavailable, match=r"not answered a beat for 0\.2 s"):
        await pulse.step()


async def test_the_answer_to_a_former_incarnation_is_not_heeded(rig):
    await rig.beat()
    worker = rig.engine.worker
    before = worker.id
    worker.on_pulse(Answer(worker="one before", beat=1, lost=True), rig.clock.monotonic())
    assert worker.id == before
