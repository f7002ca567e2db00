"""The simulated machine itself: virtual time, chance, and what a killed or paused process does."""

import asyncio
from random import Random

import pytest

from tickwell.testing.simulation.loop import Deadlock, Process, SimLoop, context_of


@pytest.fixture
def loop():
    loop = SimLoop(Random(1))
    yield loop
    for task in asyncio.all_tasks(loop):
        task._log_destroy_pending = False  # type: ignore[attr-defined]
    loop.close()


def test_a_day_passes_at_once(loop):
    loop.run_until_complete(asyncio.sleep(86_400))
    assert loop.time() == 86_400


def test_nothing_to_come_is_a_finding(loop):
    with pytest.raises(Deadlock):
        loop.run_until_complete(loop.create_future())
    loop.elapsed = 0.0


def test_chance_decides_what_runs_first():
    orders = {_order(seed) for seed in range(20)}
    assert len(orders) > 10
    assert _order(5) == _order(5)


def _order(seed):
    loop, order = SimLoop(Random(seed)), []

    async def main():
        await asyncio.gather(*(one(number) for number in range(5)))

    async def one(number):
        await asyncio.sleep(1)
        order.append(number)

    loop.run_until_complete(main())
    loop.close()
    return tuple(order)


def test_a_killed_process_runs_nothing_more_not_even_its_finally(loop):
    process, seen = Process("victim"), []

    async def work():
        try:
            await asyncio.sleep(1)
            seen.append("worked")
        finally:
            seen.append("cleaned up")

    loop.create_task(work(), context=context_of(process))
    loop.run_until_complete(asyncio.sleep(0.5))
    process.gone = True
    loop.run_until_complete(asyncio.sleep(5))
    assert seen == []


def test_a_paused_process_goes_on_where_it_stood(loop):
    process, seen = Process("sleeper"), []

    async def work():
        for _ in range(3):
            await asyncio.sleep(1)
            seen.append(loop.time())

    loop.create_task(work(), context=context_of(process))
    loop.run_until_complete(asyncio.sleep(1.5))
    process.asleep = True
    loop.run_until_complete(asyncio.sleep(100))
    assert seen == [1.0]
    loop.resume(process)
    loop.run_until_complete(asyncio.sleep(5))
    assert seen == [1.0, 101.5, 102.5]


def test_a_timer_that_is_cancelled_while_its_process_is_paused_stays_cancelled(loop):
    process, rung = Process("sleeper"), list[str]()

    async def work():
        return loop.call_later(1, rung.append, "rung")

    timer = loop.run_until_complete(loop.create_task(work(), context=context_of(process)))
    process.asleep = True
    loop.run_until_complete(asyncio.sleep(2))
    timer.cancel()
    loop.resume(process)
    loop.run_until_complete(asyncio.sleep(2))
    assert rung == []
