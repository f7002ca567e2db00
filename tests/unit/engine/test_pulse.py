"""The pulse: what it asks of a store that does not answer."""

import asyncio
from datetime import timedelta

import pytest

from tests.unit.engine.rig import LoopClock, Rig, virtually
from tickwell.domain.event import StepFailed, StepRecovered
from tickwell.domain.seconds import Seconds
from tickwell.domain.trigger import Every
from tickwell.domain.worker import Pulse as Answer
from tickwell.engine.liveness.pulse import Pulse
from tickwell.errors import StoreUnavailable
from tickwell.settings import Settings
from tickwell.stores.memory import MemoryStore
from tickwell.testing.clock import ManualClock
from tickwell.testing.contract.builders import a_worker


class Silent(MemoryStore):
    """Takes a question and never answers."""

    async def ping(self):
        return await asyncio.Event().wait()


@pytest.mark.parametrize(("lease", "beat"), [(30.0, 10.0), (6.0, 2.0), (60.0, 5.0)])
def test_the_second_of_two_beats_is_in_time(lease, beat):
    settings = Settings(store="memory://", lease=Seconds(lease), beat=Seconds(beat))
    pulse = Pulse(MemoryStore(), ManualClock(), settings, a_worker, lambda *_: None)
    assert beat + 2 * pulse.patience < 0.9 * lease


async def test_a_beat_that_is_not_answered_fails_and_says_so():
    settings = Settings(store="memory://", lease="600ms", beat="100ms")
    pulse = Pulse(Silent(), ManualClock(), settings, a_worker, lambda *_: None)
    with pytest.raises(StoreUnavailable, match=r"not answered a heartbeat for 0\.2 s"):
        await pulse.step()


async def test_the_answer_to_a_former_incarnation_is_not_heeded(rig):
    await rig.beat()
    worker = rig.engine.worker
    before = worker.id
    worker.on_pulse(Answer(worker="one before", beat=1, lost=True), rig.clock.monotonic())
    assert worker.id == before


@virtually
async def test_work_goes_on_soon_after_an_outage_however_long():
    for seconds in (31.0, 47.3, 60.1, 94.7):
        rig = Rig(clock=LoopClock())
        await rig.add("job", trigger=Every(timedelta(seconds=1)))
        await rig.engine.start()
        await asyncio.sleep(5)
        rig.store.away = True
        await asyncio.sleep(seconds)
        failed = {event.service for event in rig.heard(StepFailed)}
        assert {"pulse", "planner", "reaper"} <= failed
        before = len(rig.executor.calls)
        rig.store.away = False
        await asyncio.sleep(1.5)
        assert {event.service for event in rig.heard(StepRecovered)} == failed
        assert len(rig.executor.calls) > before
        await rig.engine.stop()
