"""Deadlines that share a timer: each ends its own request and no other."""

import asyncio

import pytest

from tickwell.executors.http.client.deadline import Deadlines


@pytest.fixture
def deadlines():
    return Deadlines()


async def wait(deadlines, seconds, until):
    task = asyncio.current_task()
    moment = deadlines.begin(task, seconds)
    try:
        await until.wait()
    except asyncio.CancelledError:
        if not moment.was_missed(task):
            raise
        return "missed"
    else:
        return "kept"
    finally:
        deadlines.end(task, moment)


async def test_those_of_one_moment_end_together_and_the_others_go_on(deadlines):
    never, soon = asyncio.Event(), asyncio.Event()
    late = [asyncio.create_task(wait(deadlines, 0.05, never)) for _ in range(50)]
    kept = [asyncio.create_task(wait(deadlines, 3600, soon)) for _ in range(50)]
    assert set(await asyncio.gather(*late)) == {"missed"}
    assert not any(task.done() for task in kept)
    soon.set()
    assert set(await asyncio.gather(*kept)) == {"kept"}


async def test_nothing_is_left_of_what_was_kept(deadlines):
    soon = asyncio.Event()
    soon.set()
    for seconds in (0.05, 3600, 86_400):
        assert await wait(deadlines, seconds, soon) == "kept"
    assert deadlines._moments == {}


async def test_who_is_cancelled_meanwhile_is_cancelled(deadlines):
    task = asyncio.create_task(wait(deadlines, 3600, asyncio.Event()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert deadlines._moments == {}


async def test_a_request_to_stop_counts_more_than_a_deadline_at_the_same_time(deadlines):
    held = []

    async def cancelled_twice():
        task = asyncio.current_task()
        moment = deadlines.begin(task, 0.01)
        held.append(moment)
        try:
            await asyncio.Event().wait()
        finally:
            assert moment.was_missed(task) is False

    task = asyncio.create_task(cancelled_twice())
    await asyncio.sleep(0)
    held[0].timer.cancel()
    deadlines._come(held[0])
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_task_goes_on_after_a_deadline_it_missed(deadlines):
    assert await wait(deadlines, 0.0, asyncio.Event()) == "missed"
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    await asyncio.sleep(0)
