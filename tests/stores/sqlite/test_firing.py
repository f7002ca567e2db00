"""Plans are made without a lock, so what they were made from may change before they are written."""

import asyncio

import pytest

from tickwell.domain.change import pause
from tickwell.domain.job import JobState
from tickwell.stores.sqlite import SqliteStore
from tickwell.testing.contract.builders import minute
from tickwell.testing.contract.scene import Scene, planner


@pytest.fixture
async def other(store, path):
    other = SqliteStore(path)
    await other.open()
    yield Scene(other)
    await other.close()


async def test_a_plan_is_left_out_when_its_job_was_paused_meanwhile(store, other):
    scene, loop, now = Scene(store), asyncio.get_running_loop(), minute(1)
    job, untouched = await scene.job(), await scene.job()

    def plan(planned, cursor):
        if planned.id == job.id:  # in the thread that reads, while the loop is free
            pausing = other.change(job, pause(by="ann", why="meanwhile"), now - 1)
            asyncio.run_coroutine_threadsafe(pausing, loop).result()
        return planner(now)(planned, cursor)

    fired = await store.fire_due(now, 0, 10, plan)
    assert (fired.jobs, fired.executions) == (1, 1)
    assert await scene.fire_times(job) == []
    assert (await scene.cursor(job)).state is JobState.PAUSED
    assert await scene.fire_times(untouched) == [now]
