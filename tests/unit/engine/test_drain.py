import asyncio
import contextlib
import gc

import pytest

from tests.unit.engine.rig import LoopClock, Rig, virtually
from tickwell.domain.event import Stopped
from tickwell.domain.execution import OutcomeKind, State
from tickwell.domain.fairness import PLATFORM_PROJECT
from tickwell.engine.planning.outage_recovery import KEY, KIND
from tickwell.testing.executors import FakeExecutor, succeeds


async def takes(seconds):
    await asyncio.sleep(seconds)
    return succeeds()


def rig_of(act, **settings):
    executor = FakeExecutor("quick")
    executor.script("quick", act)
    return Rig(clock=LoopClock(), executor=executor, drain_timeout=5, **settings)


@virtually
async def test_running_attempts_get_the_timeout_and_end():
    rig = rig_of(lambda _: takes(3))
    id = await rig.request(await rig.add())
    await rig.engine.start()
    await asyncio.sleep(1)
    await rig.engine.stop()
    assert await rig.state(id) is State.SUCCEEDED
    assert rig.clock.monotonic() < 3.5
    assert rig.heard(Stopped)[0].released == 0


@virtually
async def test_what_it_leaves_in_the_queue_was_met_by_it():
    rig = rig_of(lambda _: takes(0))
    await rig.engine.start()
    await asyncio.sleep(1)
    stopped_at = rig.clock.now()
    await rig.engine.stop()
    note = await rig.memory.get_record(KIND, PLATFORM_PROJECT, KEY, rig.clock.now())
    assert note.document["at"] in range(stopped_at, rig.clock.now() + 1)


@virtually
async def test_what_is_held_is_released_at_once_with_the_rest_of_its_wait():
    rig = rig_of(lambda _: takes(3), lead=2, horizon=5)
    job = await rig.add()
    await rig.request(job)
    await rig.engine.start()
    await asyncio.sleep(0.1)
    held = await rig.request(job, in_seconds=1.9)
    rig.engine.wake_worker()
    await asyncio.sleep(0.1)
    assert await rig.state(held) is State.RUNNING
    due = (await rig.one(held)).run_at
    stopping = asyncio.create_task(rig.engine.stop())
    await asyncio.sleep(0.1)
    one = await rig.one(held)
    assert (one.state, one.attempts[0].outcome) == (State.WAITING, OutcomeKind.RELEASED)
    assert one.run_at == due
    assert one.charged == 0
    await stopping


@virtually
async def test_what_waits_for_a_slot_is_released_at_once():
    rig = rig_of(lambda _: takes(3), capacity=1, lead=0.5)
    job = await rig.add()
    ids = [await rig.request(job) for _ in range(3)]
    await rig.engine.start()
    await asyncio.sleep(0.1)
    stopping = asyncio.create_task(rig.engine.stop())
    await asyncio.sleep(0.1)
    states = sorted([await rig.state(id) for id in ids])
    assert states == [State.QUEUED, State.QUEUED, State.RUNNING]
    await stopping


@virtually
async def test_leftovers_are_released_and_not_charged():
    rig = rig_of(lambda _: takes(100))
    id = await rig.request(await rig.add())
    await rig.engine.start()
    await asyncio.sleep(1)
    await rig.engine.stop()
    one = await rig.one(id)
    assert (one.state, one.charged, one.attempt) == (State.QUEUED, 0, 1)
    assert 6 <= rig.clock.monotonic() < 6.5
    assert rig.heard(Stopped)[0].released == 1


@virtually
async def test_leftovers_that_swallow_the_cancellation_are_released_all_the_same():
    async def stubborn(claim):
        while True:
            try:
                await asyncio.sleep(1000)
            except asyncio.CancelledError:
                continue

    rig = rig_of(stubborn)
    id = await rig.request(await rig.add())
    await rig.engine.start()
    await asyncio.sleep(1)
    await rig.engine.stop()
    assert await rig.state(id) is State.QUEUED
    assert rig.clock.monotonic() < 8


@virtually
async def test_nothing_is_claimed_any_more():
    rig = rig_of(lambda _: takes(3))
    job = await rig.add()
    await rig.request(job)
    await rig.engine.start()
    await asyncio.sleep(1)
    stopping = asyncio.create_task(rig.engine.stop())
    await asyncio.sleep(0.01)
    claims = len(rig.store.named("claim"))
    late = await rig.request(job)
    await stopping
    assert await rig.state(late) is State.QUEUED
    assert len(rig.store.named("claim")) == claims


@virtually
async def test_a_claim_under_way_lands_and_is_given_back():
    rig = rig_of(lambda _: takes(3))
    job = await rig.add()
    await rig.engine.start()
    await asyncio.sleep(1)
    real, landing = rig.memory.claim, asyncio.Event()

    async def slow(request):
        claims = await real(request)
        landing.set()
        await asyncio.sleep(0.5)
        return claims

    rig.memory.claim = slow
    id = await rig.request(job)
    rig.engine.wake_worker()
    await landing.wait()
    await rig.engine.stop()
    assert await rig.running() == 0
    assert await rig.state(id) in {State.QUEUED, State.SUCCEEDED}
    assert rig.memory.tables.workers == {}


@virtually
async def test_the_last_write_is_the_goodbye():
    rig = rig_of(lambda _: takes(1))
    await rig.request(await rig.add())
    await rig.engine.start()
    await asyncio.sleep(0.5)
    await rig.engine.stop()
    assert rig.store.calls[-1][0] == "beat"
    assert rig.memory.tables.workers == {}
    calls = len(rig.store.calls)
    await asyncio.sleep(600)
    assert len(rig.store.calls) == calls


@virtually
async def test_a_store_that_is_away_does_not_keep_the_process():
    rig = rig_of(lambda _: takes(1))
    await rig.request(await rig.add())
    await rig.engine.start()
    await asyncio.sleep(0.5)
    rig.store.away = True
    await rig.engine.stop()
    assert rig.clock.monotonic() < 30
    assert rig.heard(Stopped)


@virtually
async def test_outcomes_are_flushed_when_the_store_comes_back_in_time():
    rig = rig_of(lambda _: takes(1))
    id = await rig.request(await rig.add())
    await rig.engine.start()
    await asyncio.sleep(0.5)
    rig.store.away = True
    stopping = asyncio.create_task(rig.engine.stop())
    await asyncio.sleep(4)
    rig.store.away = False
    await stopping
    assert await rig.state(id) is State.SUCCEEDED


async def holds(_claim):
    await asyncio.Event().wait()


async def swallows(_claim):
    """As a thread does, which cannot be stopped."""
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.Event().wait()
    return succeeds()


@pytest.mark.parametrize(
    ("act", "rest"), [(holds, 0), (swallows, 0), (succeeds(), 5)], ids=["runs", "swallows", "rests"]
)
def test_the_end_of_the_event_loop_starts_nothing_in_the_place_of_what_it_ends(act, rest, caplog):
    async def main():
        rig = Rig(capacity=1, lead=0.5, rest=rest)
        rig.executor.script("quick", act)
        job = await rig.add()
        for _ in range(5):
            await rig.request(job)
        await rig.engine.start()
        await rig.settle()
        (lane,) = rig.worker.lanes
        assert (len(rig.executor.calls), len(lane.ready)) == (1, 4)
        return rig.executor.calls

    calls = asyncio.run(main())  # and nobody has stopped the engine
    gc.collect()
    assert len(calls) == 1
    assert caplog.messages == []
