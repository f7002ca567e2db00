"""Waiting for the end of a run: here, in another process, without an event loop."""

import asyncio

import pytest

from tickwell import Retry, Scheduler, State
from tickwell.declared.internals import internals
from tickwell.errors import InvalidInput, NotFound


async def test_it_answers_with_how_a_run_ended():
    scheduler, go = Scheduler("memory://"), asyncio.Event()

    @scheduler.job()
    async def add(a: int, b: int) -> int:
        await go.wait()
        return a + b

    async with scheduler:
        asked = await add.trigger(1, b=2)
        waiting = asyncio.create_task(scheduler.wait(asked))
        assert (await scheduler.wait(asked.id, within="1ms")).state != State.SUCCEEDED
        go.set()
        ended = await waiting
        assert (ended.id, ended.state, ended.result) == (asked.id, State.SUCCEEDED, 3)
        assert await scheduler.wait(asked.id) == ended


async def test_an_attempt_that_another_follows_is_no_end():
    scheduler, tries = Scheduler("memory://"), []

    @scheduler.job(retry=Retry(max_attempts=2, delay="0s", jitter=0))
    async def flaky() -> None:
        tries.append(1)
        raise ConnectionError

    async with scheduler:
        ended = await scheduler.wait(await flaky.trigger())
    assert (ended.state, len(tries)) == (State.DEAD, 2)


async def test_what_another_process_runs_is_waited_for_too(tmp_path):
    url = f"sqlite:///{tmp_path}/jobs.db"
    asks, runs = Scheduler(url, app="asks"), Scheduler(url, app="runs")

    @runs.job()
    async def greet() -> str:
        return "hello"

    async with runs:
        ended = await asks.wait(await asks.trigger("greet"))
        assert (ended.state, ended.result) == (State.SUCCEEDED, "hello")
        assert listeners(asks) == listeners(Scheduler("memory://"))
    await asks.stop()


async def test_what_is_not_there_is_not_waited_for():
    scheduler = Scheduler("memory://")
    with pytest.raises(NotFound):
        await scheduler.wait("nothing")
    with pytest.raises(InvalidInput, match="within"):
        await scheduler.wait("nothing", within="soon")
    await scheduler.stop()


def test_without_an_event_loop():
    scheduler = Scheduler("memory://")

    @scheduler.job()
    async def greet() -> str:
        return "hello"

    scheduler.start_in_background()
    assert scheduler.blocking.wait(greet.blocking.trigger()).result == "hello"
    scheduler.blocking.stop()


def listeners(scheduler):
    return len(internals(scheduler).events._listeners)
