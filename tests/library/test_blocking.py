"""The scheduler without an event loop of one's own, in the background, and across a fork."""

import asyncio
import threading
from datetime import UTC, datetime

import pytest

from tickwell import Call, Every, Run, Scheduler
from tickwell.domain.job import JobState
from tickwell.errors import InvalidPayload, NotRunning

DEADLINE = 100


@pytest.fixture(params=["memory", "sqlite"])
def scheduler(request, tmp_path):
    url = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path}/jobs.db"
    return Scheduler(url)


def test_a_program_without_a_loop_runs_jobs_in_the_background(scheduler):
    ran = threading.Event()

    @scheduler.job()
    async def mail(run: Run, user_id: int) -> None:
        ran.set()

    scheduler.start_in_background()
    assert scheduler.is_running
    execution = mail.blocking.trigger(7)
    assert ran.wait(DEADLINE)
    assert scheduler.blocking.get_execution(execution.id).payload == {"user_id": 7}
    with pytest.raises(InvalidPayload, match="user_id"):
        scheduler.blocking.trigger("mail", {"user_id": "seven"})
    scheduler.blocking.stop()
    assert not scheduler.is_running


def test_one_that_only_asks_needs_no_engine(scheduler):
    blocking = scheduler.blocking
    blocking.add_job("ping", Every("5m"), Call("ping"))
    blocking.edit_job("ping", trigger=Every("1h"))
    assert blocking.get_job("ping").trigger == Every("1h")
    blocking.pause_job("ping", why="lunch", until="1h")
    assert [one.name for one in blocking.jobs(state=JobState.PAUSED)] == ["ping"]
    blocking.resume_job("ping")
    at = blocking.trigger_at(datetime(2100, 1, 1, tzinfo=UTC), "ping")
    later = blocking.trigger_in("1h", "ping", key="k")
    assert {one.id for one in blocking.executions(job="ping")} == {at.id, later.id}
    blocking.delete_job("ping")
    assert blocking.jobs() == []
    blocking.stop()
    assert not scheduler.is_running


async def test_a_thread_beside_a_running_loop_uses_that_loop(scheduler):
    @scheduler.job()
    async def mail() -> None: ...

    async with scheduler:
        execution = await asyncio.to_thread(mail.blocking.trigger)
        assert (await scheduler.get_execution(execution.id)).id == execution.id
        assert scheduler._owner._background is None


async def test_a_blocking_call_inside_a_loop_is_refused(scheduler):
    with pytest.raises(NotRunning, match=r"without \.blocking"):
        scheduler.blocking.jobs()
    with pytest.raises(NotRunning, match="would stop the event loop"):
        scheduler.start_in_background()


def test_the_end_of_the_program_drains(program):
    stdout, stderr, _ = program(
        """
        import threading, time
        from tickwell import Scheduler

        scheduler, begun = Scheduler("sqlite:///jobs.db"), threading.Event()

        @scheduler.job()
        def work() -> None:
            begun.set()
            time.sleep(0.5)
            print("worked", flush=True)

        @scheduler.on("stop")
        def stopped(event) -> None:
            print("stopped", event.released)

        scheduler.start_in_background()
        work.blocking.trigger()
        begun.wait(60)
        """,
    )
    assert (stdout, stderr) == ("worked\nstopped 0\n", "")


@pytest.mark.parametrize(
    ("opening", "using"),
    [
        ("scheduler.start_in_background()", "scheduler.blocking.trigger('noop')"),
        ("scheduler.blocking.jobs()", "scheduler.blocking.jobs()"),
        (
            "scheduler.blocking.jobs()",
            "asyncio.run(scheduler.get_job('noop'))",
        ),
    ],
)
def test_a_forked_child_is_told_to_open_its_own(program, opening, using):
    stdout, stderr, _ = program(
        f"""
        import asyncio, os, sys
        from tickwell import Scheduler
        from tickwell.errors import NotRunning

        scheduler = Scheduler("sqlite:///jobs.db")

        @scheduler.job()
        async def noop() -> None: ...

        asyncio.run(scheduler.sync())
        {opening}
        child = os.fork()
        if not child:
            try:
                {using}
            except NotRunning as error:
                print(error)
            scheduler.after_fork()
            print(scheduler.blocking.get_job("noop").name)
            scheduler.blocking.stop()
            sys.stdout.flush()
            os._exit(0)
        os.waitpid(child, 0)
        print("parent:", scheduler.blocking.get_job("noop").name)
        scheduler.blocking.stop()
        """,
    )
    first, *rest = stdout.splitlines()
    assert first.startswith("this process was forked from process ")
    assert rest == ["noop", "parent: noop"]
    assert stderr == ""


def test_a_child_of_a_process_that_is_just_opening_it_is_told_as_well(program):
    stdout, stderr, _ = program(
        """
        import asyncio, os, signal, threading
        from tickwell import Scheduler
        from tickwell.clock import StoreClock
        from tickwell.errors import NotRunning
        from tickwell.stores.memory import MemoryStore

        opening, over = threading.Event(), threading.Event()

        class Slow(MemoryStore):
            async def open(self):
                opening.set()
                await asyncio.to_thread(over.wait)

        scheduler = Scheduler("memory://")
        from tickwell.declared.internals import internals

        internals(scheduler).live_on(Slow(), StoreClock(), scheduler.settings)
        listing = threading.Thread(target=scheduler.blocking.jobs)
        listing.start()
        opening.wait()
        child = os.fork()
        if not child:
            signal.alarm(100)
            try:
                scheduler.blocking.jobs()
            except NotRunning:
                scheduler.after_fork()
                scheduler.blocking.jobs()
                os._exit(3)
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        over.set()
        listing.join()
        scheduler.blocking.stop()
        """,
    )
    assert (stdout, stderr) == ("3\n", "")


def test_a_scheduler_that_was_only_declared_before_the_fork_just_works(program):
    stdout, stderr, _ = program(
        """
        import os, sys
        from tickwell import Scheduler

        scheduler = Scheduler("sqlite:///jobs.db")

        @scheduler.job()
        async def noop() -> None: ...

        for _ in range(2):
            child = os.fork()
            if not child:
                with_loop = scheduler.start_in_background()
                print(noop.blocking.trigger().kind, flush=True)
                scheduler.blocking.stop()
                os._exit(0)
            os.waitpid(child, 0)
        """,
    )
    assert (stdout, stderr) == ("request\n" * 2, "")
