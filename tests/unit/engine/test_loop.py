import asyncio
import contextlib

import pytest

from tickwell.domain.event import Event, Events, StepFailed, StepRecovered
from tickwell.engine.loop import IN_A_ROW, LONGEST_REST, Loop, backoff, follow
from tickwell.testing.clock import ManualClock


class Service:
    name = "service"

    def __init__(self, clock):
        self.clock = clock
        self.steps = []
        self.rest = 10.0
        self.act = None

    async def step(self):
        self.steps.append(self.clock.monotonic())
        if self.act:
            self.act()
        return self.rest


class Heard(Loop):
    """Remembers what it tells."""

    def __init__(self, clock):
        super().__init__(Service(clock), clock, Events())
        self.told = list[Event]()
        self.events.subscribe(self.told.append)


@pytest.fixture
async def loop():
    clock = ManualClock()
    loop = Heard(clock)
    task = asyncio.create_task(loop.run())
    await clock.settle()
    yield loop
    loop.stop()
    await asyncio.wait_for(task, 100)


async def test_it_rests_exactly_as_long_as_the_step_says(loop):
    await loop.clock.advance(25)
    assert loop.service.steps == [0.0, 10.0, 20.0]


async def test_a_wake_up_cuts_the_rest_short(loop):
    await loop.clock.advance(3)
    loop.wake.set()
    await loop.clock.settle()
    assert loop.service.steps == [0.0, 3.0]


async def test_a_wake_up_during_a_step_is_not_lost(loop):
    def wake_once():
        if len(loop.service.steps) == 2:
            loop.wake.set()

    loop.service.act = wake_once
    await loop.clock.advance(10)
    assert loop.service.steps == [0.0, 10.0, 10.0]


async def test_a_failed_step_is_told_and_backed_off_and_never_fatal(loop):
    loop.service.act = _fail
    await loop.clock.advance(10)
    failures = len(loop.service.steps) - 1
    await loop.clock.advance(300)
    told = [event for event in loop.told if isinstance(event, StepFailed)]
    assert failures == 1
    assert [event.failures for event in told[:4]] == [1, 2, 3, 4]
    rests = [event.rest for event in told]
    assert rests[0] < rests[2] < rests[4]
    assert max(rests) <= LONGEST_REST * 1.25
    assert len(told) > 40
    assert loop.failures == len(told)


async def test_it_recovers_and_says_so(loop):
    loop.service.act = _fail
    await loop.clock.advance(12)
    loop.service.act = None
    await loop.clock.advance(20)
    assert loop.failures == 0
    assert isinstance(loop.told[-1], StepRecovered)


async def test_a_wake_up_does_not_cut_the_rest_of_a_failing_service_short(loop):
    loop.service.act = _fail
    await loop.clock.advance(10)
    steps = len(loop.service.steps)
    for _ in range(5):
        loop.wake.set()
        await loop.clock.settle()
    assert len(loop.service.steps) == steps


async def test_a_failing_service_tries_again_once_its_leader_recovers(loop):
    hear = follow("pulse", [loop])
    loop.service.act = _fail
    await loop.clock.advance(12)
    steps = len(loop.service.steps)
    hear(StepRecovered(service="worker", failures=1))
    await loop.clock.settle()
    assert len(loop.service.steps) == steps
    loop.service.act = None
    hear(StepRecovered(service="pulse", failures=1))
    await loop.clock.settle()
    assert len(loop.service.steps) == steps + 1
    assert loop.failures == 0


async def test_a_service_that_is_well_rests_when_its_leader_recovers(loop):
    follow("pulse", [loop])(StepRecovered(service="pulse", failures=1))
    await loop.clock.settle()
    assert loop.service.steps == [0.0]


async def test_it_stops_while_it_rests(loop):
    loop.stop()
    await loop.clock.settle()
    steps = len(loop.service.steps)
    await loop.clock.advance(60)
    assert len(loop.service.steps) == steps


def test_services_do_not_come_back_in_step():
    assert backoff(5, "planner") != backoff(5, "worker")
    assert all(backoff(n, "x") <= LONGEST_REST * 1.25 for n in range(1, 2000))


def _fail():
    raise ValueError("no")


async def test_a_step_that_does_not_come_back_is_trouble_while_it_lasts(loop):
    back = asyncio.Event()

    async def hang():
        await back.wait()
        return 10.0

    assert loop.trouble(30) is None
    loop.service.step = hang
    loop.wake.set()
    await loop.clock.advance(30)
    assert loop.trouble(30) is None
    await loop.clock.advance(1)
    assert loop.trouble(30) == "a step has not come back for 31 s"
    back.set()
    await loop.clock.settle()
    assert loop.trouble(30) is None


async def test_a_step_that_failed_is_trouble_until_one_succeeds(loop):
    def fail():
        raise RuntimeError("the store is away")

    loop.service.act = fail
    loop.wake.set()
    await loop.clock.settle()
    assert loop.trouble(30) == "the store is away"
    loop.service.act = None
    await loop.clock.advance(1)
    assert loop.trouble(30) is None


async def test_steps_without_a_rest_follow_at_once_and_now_and_then_let_others_run(loop):
    seen, over = [], asyncio.Event()

    async def look():
        while not over.is_set():
            seen.append(len(loop.service.steps))
            await asyncio.sleep(0)

    def end():
        if len(loop.service.steps) > 2 * IN_A_ROW:
            loop.service.rest = 10.0
            over.set()

    loop.service.rest, loop.service.act = 0.0, end
    other = asyncio.create_task(look())
    loop.wake.set()
    await loop.clock.settle()
    await other
    assert {1, IN_A_ROW + 1} <= set(seen) <= {1, IN_A_ROW + 1, 2 * IN_A_ROW + 1}


async def test_a_cancel_that_the_step_swallowed_ends_it_nevertheless():
    """As a driver's `wait_for` does on Python 3.11 if the answer comes in the same moment."""
    within = asyncio.Event()

    class Swallows(Service):
        async def step(self):
            within.set()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
            return 10.0

    clock = ManualClock()
    task = asyncio.create_task(Loop(Swallows(clock), clock, Events()).run())
    await within.wait()
    task.cancel()
    await asyncio.wait([task], timeout=100)
    assert task.cancelled()
