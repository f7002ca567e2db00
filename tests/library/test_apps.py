"""Jobs in code belong to an app: a start brings its own up to date, and nobody else's."""

import asyncio

import pytest

from tickwell import Call, Cron, Every, Scheduler
from tickwell.declared import orphaned_jobs
from tickwell.declared.internals import internals
from tickwell.domain.event import JobPaused
from tickwell.domain.job import Cursor, Entry, Job, JobState
from tickwell.errors import Conflict, InvalidJob


@pytest.fixture
def make(tmp_path):
    """A scheduler of an app whose code declares these jobs, on a file that all share."""

    def make(*names, app="shop", trigger=None):
        scheduler = Scheduler(f"sqlite:///{tmp_path}/jobs.db", app=app)
        for name in names:

            async def noop() -> None: ...

            scheduler.job(trigger or Every("1h"), name=name)(noop)
        return scheduler

    return make


async def start(scheduler, name):
    async with scheduler:
        return await scheduler.get_job(name)


async def test_a_job_gone_from_the_code_is_paused_and_resumed_when_it_comes_back(make):
    await start(make("keep", "gone"), "gone")
    gone = await start(make("keep"), "gone")
    assert gone.state is JobState.PAUSED
    assert (gone.pause.by, gone.pause.why) == ("app shop", "gone from code")
    assert (await start(make("keep"), "keep")).state is JobState.ACTIVE
    assert (await start(make("keep", "gone"), "gone")).state is JobState.ACTIVE


async def test_the_log_warns_of_what_a_start_pauses(make, caplog):
    await start(make("theirs", app="default"), "theirs")
    assert caplog.messages == []
    await start(make("mine", app="default"), "theirs")
    [warning] = caplog.messages
    assert warning.startswith("paused job theirs: gone from code of app 'default'.")
    assert "Scheduler(app='…')" in warning


async def test_what_a_live_worker_can_run_is_not_gone_until_that_worker_is(
    make, caplog, monkeypatch
):
    monkeypatch.setattr(orphaned_jobs, "REST", 0.01)
    async with make("theirs") as other:
        mine = make("mine")
        assert (await mine.sync()).kept == ["theirs"]
        paused = asyncio.Event()
        mine.on(JobPaused)(lambda _event: paused.set())
        async with mine:
            assert (await mine.get_job("theirs")).state is JobState.ACTIVE
            assert caplog.messages == []
            await other.stop()
            await asyncio.wait_for(paused.wait(), 100)
            assert (await mine.get_job("theirs")).pause.why == "gone from code"
            assert len(caplog.messages) == 1


async def test_what_a_person_paused_stays_paused(make):
    async with make("keep", "gone") as scheduler:
        await scheduler.pause_job("gone", by="ada", why="the disk is full")
    assert (await start(make("keep"), "gone")).pause.by == "ada"
    assert (await start(make("keep", "gone"), "gone")).state is JobState.PAUSED


async def test_a_start_touches_no_other_apps_jobs_and_nothing_when_it_declares_nothing(make):
    await start(make("mine"), "mine")
    await start(make("theirs", app="blog"), "theirs")
    async with make("other") as scheduler:
        assert (await scheduler.get_job("theirs")).state is JobState.ACTIVE
        await scheduler.resume_job("mine")
    async with make() as scheduler:
        states = [job.state for job in await scheduler.jobs()]
    assert states == [JobState.ACTIVE] * 3


async def test_another_apps_job_of_the_same_name_is_refused(make):
    await start(make("report"), "report")
    with pytest.raises(Conflict, match=r"job 'report' belongs to app 'shop'.*app 'blog'"):
        await make("report", app="blog").start()
    async with make() as scheduler:
        await scheduler.add_job("by-hand", Every("1h"), Call("x"))
    with pytest.raises(Conflict, match="was not declared by code"):
        await make("by-hand").start()


async def test_sync_says_what_it_did_and_deletes_only_when_told(make):
    scheduler = make("a", "b")
    synced = await scheduler.sync()
    assert (synced.added, synced.edited) == (["a", "b"], [])
    await scheduler.stop()
    scheduler = make("b", "c", trigger=Every("2h"))
    synced = await scheduler.sync(prune=True)
    assert (synced.added, synced.edited, synced.deleted) == (["c"], ["b"], ["a"])
    assert [job.name for job in await scheduler.jobs()] == ["b", "c"]
    await scheduler.stop()


@pytest.mark.parametrize("trigger", [Every("1h"), Cron("H * * * *")])
async def test_an_edit_by_a_person_wins_until_the_code_changes(make, trigger):
    declared = await start(make("poll", trigger=trigger), "poll")
    assert not declared.is_edited
    async with make("poll", trigger=trigger) as scheduler:
        await scheduler.edit_job("poll", trigger=Every("5m"))
    edited = await start(make("poll", trigger=trigger), "poll")
    assert edited.trigger == Every("5m")
    assert edited.is_edited
    changed = await start(make("poll", trigger=Every("3h")), "poll")
    assert changed.trigger == Every("3h")
    assert not changed.is_edited


async def test_an_edit_that_does_not_speak_of_the_app_leaves_it(make):
    from dataclasses import replace

    async with make("poll") as scheduler:
        job = (await internals(scheduler).jobs.get("default", "poll")).job
        plain = replace(job, app=None, declared=None, trigger=Every("5m"))
        await internals(scheduler).jobs.edit("default", "poll", plain)
        job = await scheduler.get_job("poll")
    assert job.app == "shop"
    assert job.is_edited


async def test_a_handler_declared_while_the_engine_runs_is_taken_up(make):
    import asyncio

    async with make("first") as scheduler:
        ran = asyncio.Event()

        @scheduler.job()
        async def late() -> None:
            ran.set()

        async with asyncio.timeout(100):
            await late.trigger()
            await ran.wait()
        assert (await scheduler.get_job("late")).app == "shop"


async def test_a_name_in_the_form_of_an_id_ends_the_start_even_if_it_was_taken_before():
    name = "0197c0de-0000-7000-8000-000000000000"
    scheduler = Scheduler("memory://")

    @scheduler.job(Every("1h"), name=name)
    def report() -> None: ...

    await scheduler.open()
    job = Job(id=name[:-1] + "1", name=name, trigger=Every("1h"), target=Call("report"))
    await internals(scheduler).jobs.store.add_jobs([Entry(job, Cursor())], 1)
    with pytest.raises(InvalidJob, match=r"name: 0197.* is in the form of an id\. Choose"):
        await scheduler.start()
    assert (await scheduler.get_job(name)).id == job.id
    await scheduler.stop()
