"""One event loop owns a scheduler; calls from every other loop and thread are handed to it."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tickwell import Call, Scheduler
from tickwell.errors import NotFound, NotRunning

DEADLINE = 100


@pytest.fixture(params=["memory", "sqlite"])
def scheduler(request, tmp_path):
    url = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path}/jobs.db"
    return Scheduler(url)


def test_a_loop_after_a_blocking_call_and_another_loop_after_that(scheduler, ours):
    @scheduler.job()
    async def mail() -> None: ...

    runs = [mail.blocking.trigger()]
    runs += [asyncio.run(mail.trigger()), asyncio.run(mail.trigger()), mail.blocking.trigger()]
    assert {one.id for one in asyncio.run(scheduler.executions(job="mail"))} == {
        one.id for one in runs
    }
    asyncio.run(scheduler.stop())
    assert ours() == []


def test_loops_in_many_threads_at_once_are_answered_by_the_one_that_owns_it(scheduler, ours):
    @scheduler.job()
    async def mail() -> None: ...

    at_once = threading.Barrier(8, timeout=DEADLINE)

    def ask(number: int) -> str:
        at_once.wait()
        if number % 2:
            return mail.blocking.trigger().id
        return asyncio.run(mail.trigger()).id

    with ThreadPoolExecutor(8) as threads:
        ids = {call.result(DEADLINE) for call in [threads.submit(ask, n) for n in range(8)]}
    assert len(ids) == 8
    assert {one.id for one in scheduler.blocking.executions(job="mail")} == ids
    scheduler.blocking.stop()
    assert ours() == []


def test_a_scheduler_in_the_background_is_used_and_stopped_from_a_loop(scheduler, ours):
    ran = threading.Event()

    @scheduler.job()
    async def mail() -> None:
        ran.set()

    scheduler.start_in_background()

    async def use() -> None:
        await scheduler.start()  # runs already
        execution = await mail.trigger()
        assert (await scheduler.wait(execution)).state == "succeeded"
        page = await scheduler.get_execution(execution.id)
        assert page.id == execution.id
        with pytest.raises(NotFound, match="nothing"):
            await scheduler.get_job("nothing")
        assert scheduler.is_running
        await scheduler.stop()

    asyncio.run(use())
    assert ran.is_set()
    assert not scheduler.is_running
    assert ours() == []


def test_the_loop_that_starts_it_runs_its_handlers_even_after_blocking_calls(scheduler, ours):
    loops = []

    @scheduler.job()
    async def mail() -> None:
        loops.append(asyncio.get_running_loop())

    early = mail.blocking.trigger()

    async def serve() -> None:
        async with scheduler:
            await scheduler.wait(early)
            await scheduler.wait(await asyncio.to_thread(mail.blocking.trigger))
            assert loops == [asyncio.get_running_loop()] * 2

    asyncio.run(serve())
    assert ours() == []


def test_calls_under_way_end_before_the_loop_that_starts_it_takes_over(scheduler, ours):
    scheduler.blocking.add_job("report", None, Call("report"))
    begun, over = threading.Event(), threading.Event()

    async def slow() -> str:
        begun.set()
        await asyncio.to_thread(over.wait, DEADLINE)
        return (await scheduler.get_job("report")).name

    async def serve() -> None:
        under_way = asyncio.create_task(asyncio.to_thread(scheduler.blocking.call, slow))
        await asyncio.to_thread(begun.wait, DEADLINE)
        starting = asyncio.create_task(scheduler.start())
        await asyncio.sleep(0)
        assert scheduler._owner._moved is not None
        meanwhile = asyncio.create_task(asyncio.to_thread(scheduler.blocking.get_job, "report"))
        other = asyncio.create_task(scheduler.get_job("report"))
        over.set()
        assert await under_way == "report"
        await starting
        assert (await meanwhile).name == (await other).name == "report"
        assert scheduler._owner.loop is asyncio.get_running_loop()
        await scheduler.stop()

    asyncio.run(serve())
    assert ours() == []


def test_a_call_from_another_loop_is_told_when_it_is_stopped_before_the_answer(scheduler, ours):
    begun = threading.Event()

    async def never() -> None:
        begun.set()
        await asyncio.Event().wait()

    scheduler.blocking.jobs()

    async def ask() -> None:
        await scheduler._owner.run(never)

    with ThreadPoolExecutor() as threads:
        call = threads.submit(asyncio.run, ask())
        assert begun.wait(DEADLINE)
        scheduler.blocking.stop()
        with pytest.raises(NotRunning, match="was stopped"):
            call.result(DEADLINE)
    assert ours() == []


def test_a_cancelled_caller_cancels_its_call(scheduler, ours):
    cancelled, begun = threading.Event(), threading.Event()

    async def never() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async def ask() -> None:
        call = asyncio.create_task(scheduler._owner.run(never))
        await asyncio.to_thread(begun.wait, DEADLINE)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    scheduler.blocking.jobs()
    asyncio.run(ask())
    assert cancelled.wait(DEADLINE)
    scheduler.blocking.stop()
    assert ours() == []


def test_a_loop_that_ended_without_a_stop_is_replaced(scheduler, ours):
    @scheduler.job()
    async def mail() -> None: ...

    async def leave() -> str:
        await scheduler.start()
        return (await mail.trigger()).id

    first = asyncio.run(leave())
    assert [one.id for one in asyncio.run(scheduler.executions(job="mail"))] == [first]
    second = asyncio.run(leave())
    assert {one.id for one in scheduler.blocking.executions(job="mail")} == {first, second}
    asyncio.run(scheduler.stop())
    assert ours() == []
