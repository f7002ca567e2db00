"""Runs at the start of a program: at each one, or once for each boot of the machine."""

import asyncio

import pytest

from tickwell import Call, OnDemand, Scheduler
from tickwell.declared.start_runs import StartRuns
from tickwell.engine.liveness.process_identity import boot_id
from tickwell.errors import InvalidJob, InvalidPayload


def program(url, at_start, boot="boot-1", **more):
    """A program that has one such job, as each of its processes declares it."""
    scheduler = Scheduler(url, **more)
    scheduler._start_runs = StartRuns("default", lambda: boot)

    @scheduler.job(at_start=at_start)
    async def warm_up() -> str:
        return "warm"

    return scheduler


async def runs(scheduler):
    return await scheduler.executions(job="warm_up")


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/jobs.db"


async def test_once_for_each_boot_whoever_starts_and_however_often(url):
    together = [program(url, "boot") for _ in range(4)]
    await asyncio.gather(*(each.start() for each in together))
    [first] = await runs(together[0])
    done = await together[0].wait(first)
    assert (done.result, done.kind) == ("warm", "request")
    for each in together:
        await each.stop()
    async with program(url, "boot") as again:
        assert len(await runs(again)) == 1
    async with program(url, "boot", boot="boot-2") as after:
        assert len(await runs(after)) == 2


async def test_a_boot_is_remembered_longer_than_the_history_of_its_run(url):
    async with program(url, "boot") as scheduler:
        [run] = await runs(scheduler)
        await scheduler.wait(run)
        store = scheduler._inside.store
        later = scheduler._inside.clock.now() + 10**11
        assert await store.prune(later, 100) > 0
    async with program(url, "boot") as again:
        assert await runs(again) == []


async def test_at_each_start_of_a_process_with_a_worker(url):
    for count in (1, 2):
        async with program(url, "process") as scheduler:
            assert len(await runs(scheduler)) == count
    planner = program(url, "process")
    await planner.start(roles={"planner"})
    assert len(await runs(planner)) == 2
    await planner.stop()


async def test_where_nothing_names_the_boot_each_start_counts(url):
    for count in (1, 2):
        async with program(url, "boot", boot="") as scheduler:
            assert len(await runs(scheduler)) == count


async def test_a_paused_job_has_none(url):
    async with program(url, "process") as scheduler:
        await scheduler.pause_job("warm_up", why="too hot")
    async with program(url, "process") as scheduler:
        assert len(await runs(scheduler)) == 1


async def test_a_webhook_may_run_at_the_start_as_well():
    scheduler = Scheduler("memory://")
    scheduler.declare("ping", None, Call("other"), at_start="process")
    async with scheduler:
        [run] = await scheduler.executions(job="ping")
        assert run.kind == "request"


def test_what_is_no_start_is_refused():
    with pytest.raises(InvalidJob, match="'login' is not one of process, boot"):
        Scheduler("memory://").declare("x", None, Call("f"), at_start="login")  # type: ignore[arg-type]


def test_the_boot_has_a_name_here():
    assert boot_id() == boot_id() != ""


def test_a_start_that_could_not_be_called_is_refused_at_the_decorator():
    async def mail(customer: int) -> None: ...

    scheduler = Scheduler("memory://")
    with pytest.raises(InvalidPayload, match="it needs 'customer'"):
        scheduler.job(at_start="process")(mail)
    assert scheduler.job(OnDemand())(mail) is not None  # its arguments come with each request
