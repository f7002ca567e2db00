import asyncio

import pytest

from tickwell.errors import InvalidInput
from tickwell.testing.clock import START, ManualClock
from tickwell.testing.executors import FakeExecutor, fails, succeeds


async def test_time_moves_only_when_told():
    clock = ManualClock()
    assert (clock.now(), clock.monotonic()) == (START, 0.0)
    await clock.advance(1.5)
    assert (clock.now(), clock.monotonic()) == (START + 1500, 1.5)


async def test_sleepers_wake_in_order_and_at_their_instants():
    clock, woken = ManualClock(), []

    async def sleep(seconds):
        await clock.wait(asyncio.Event(), seconds)
        woken.append((seconds, clock.monotonic()))

    tasks = [asyncio.create_task(sleep(seconds)) for seconds in (3, 1, 2)]
    await clock.advance(2.5)
    assert woken == [(1, 1.0), (2, 2.0)]
    await clock.advance(1)
    assert woken[-1] == (3, 3.0)
    await asyncio.gather(*tasks)


async def test_a_sleeper_that_sleeps_again_is_woken_again_in_one_advance():
    clock, woken = ManualClock(), []

    async def tick():
        for _ in range(4):
            await clock.wait(asyncio.Event(), 0.1)
            woken.append(clock.now() - START)

    task = asyncio.create_task(tick())
    await clock.advance(1)
    assert woken == [100, 200, 300, 400]
    await task


async def test_a_callback_comes_at_its_instant_and_may_ask_for_the_next():
    clock, called = ManualClock(), []

    def call():
        called.append(clock.now() - START)
        clock.call_later(0.1, call)

    clock.call_later(0.2, call)
    await clock.advance(0.45)
    assert (called, clock.parked) == ([200, 300, 400], 1)


async def test_an_event_wakes_before_the_time():
    clock, wake = ManualClock(), asyncio.Event()
    task = asyncio.create_task(clock.wait(wake, 60))
    await clock.settle()
    assert clock.parked == 1
    wake.set()
    await task
    assert (clock.parked, clock.monotonic()) == (0, 0.0)


async def test_a_jump_moves_the_stores_time_alone():
    clock = ManualClock()
    clock.jump(-7200)
    assert (clock.now(), clock.monotonic()) == (START - 7_200_000, 0.0)


async def test_a_sample_sets_the_stores_time_to_the_middle_of_the_round_trip():
    clock = ManualClock()
    await clock.advance(10)
    clock.sample(5_000_000, 8.0, 10.0)
    assert clock.now() == 5_001_000
    assert clock.sample_age() == 0.0


async def test_a_script_is_told_attempt_by_attempt(rig):
    fake = FakeExecutor("mail")
    fake.script("mail", ValueError("no"), fails("busy"), succeeds(7))
    job = await rig.add(handler="mail")
    rig.executor = fake
    claim = await _claim(rig, job)
    outcomes = list[str]()
    for number in (1, 2, 3, 4):
        claim.attempt = number
        try:
            outcomes.append((await fake.run(claim)).kind)
        except ValueError as error:
            outcomes.append(str(error))
    assert outcomes == ["no", "failed", "succeeded", "succeeded"]
    assert [call.attempt for call in fake.calls] == [1, 2, 3, 4]


async def test_a_slip_of_a_name_is_told_at_once():
    fake = FakeExecutor("mail")
    for slip in (fake.script, fake.hold):
        with pytest.raises(InvalidInput, match=r"'mial' is none of its handlers\. .* for mail$"):
            slip("mial")
    with pytest.raises(InvalidInput, match="'mail' is not held"):
        fake.release("mail")


async def _claim(rig, job):
    from tickwell.ports.records import ClaimRequest

    await rig.request(job)
    await rig.beat()
    request = ClaimRequest(
        worker=rig.worker.id,
        claim_id="c",
        now=rig.clock.now(),
        lead=0,
        limit=1,
        queues=("default",),
        abilities=frozenset({"call:mail"}),
    )
    return (await rig.memory.claim(request))[0]


async def test_waits_one_after_the_other_end_with_one_as_long():
    clock, rung = ManualClock(), []

    def ring():
        rung.append(clock.now() - START)
        if len(rung) < 3:
            clock.call_later(0.1, ring)

    clock.call_later(0.1, ring)
    await clock.advance(0.3)
    assert rung == [100, 200, 300]
