"""Stopping a scheduler in the background while other threads use it."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tickwell import Call, Scheduler
from tickwell.errors import NotRunning

DEADLINE = 100


@pytest.fixture
def scheduler(tmp_path):
    return Scheduler(f"sqlite:///{tmp_path}/jobs.db")


def test_a_call_under_way_is_told_instead_of_waiting_for_ever(scheduler, ours):
    begun = threading.Event()

    async def never():
        await scheduler.open()
        begun.set()
        await asyncio.Event().wait()

    with ThreadPoolExecutor() as threads:
        call = threads.submit(scheduler.blocking.call, never)
        assert begun.wait(DEADLINE)
        scheduler.blocking.stop()
        with pytest.raises(NotRunning, match="was stopped"):
            call.result(DEADLINE)
    assert ours() == []


def test_a_call_meanwhile_is_refused_and_leaves_nothing_unawaited(scheduler, ours):
    refused = []

    async def leave():
        try:
            await asyncio.Event().wait()
        finally:
            with pytest.raises(NotRunning) as caught:
                await asyncio.to_thread(scheduler.blocking.jobs)
            refused.append(caught.value)

    async def begin():
        leaving.append(asyncio.create_task(leave()))
        await asyncio.sleep(0)

    leaving = []
    scheduler.blocking.call(begin)
    scheduler.blocking.stop()
    assert len(refused) == 1
    assert ours() == []


def test_several_threads_may_stop_it_and_it_can_be_used_again(scheduler, ours):
    scheduler.start_in_background()
    with ThreadPoolExecutor() as threads:
        stops = [threads.submit(scheduler.blocking.stop) for _ in range(3)]
        assert [each.result(DEADLINE) for each in stops] == [None] * 3
    assert ours() == []
    scheduler.blocking.add_job("report", None, Call("report"))
    assert [each.name for each in scheduler.blocking.jobs()] == ["report"]
    scheduler.blocking.stop()
    assert ours() == []
