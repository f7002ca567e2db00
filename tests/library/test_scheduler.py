"""The object that library users hold, on both stores, with real time and short waits on signals."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tickwell import (
    Backoff,
    Call,
    Every,
    Once,
    Overlap,
    Retry,
    Run,
    Scheduler,
    Settings,
    State,
    Timeout,
)
from tickwell.declared.internals import internals
from tickwell.domain.execution import ENDED
from tickwell.domain.job import JobState
from tickwell.errors import (
    DuplicateHandler,
    InvalidJob,
    InvalidPayload,
    InvalidSetting,
    InvalidTrigger,
    NotFound,
    NotRunning,
)
from tickwell.events import AttemptsFinished

DEADLINE = 100


@pytest.fixture(params=["memory", "sqlite"])
def url(request, tmp_path):
    return "memory://" if request.param == "memory" else f"sqlite:///{tmp_path}/jobs.db"


async def ended(scheduler, execution):
    """Wait until an execution has ended, on the engine's own events."""
    changed = asyncio.Event()
    forget = scheduler.subscribe(lambda _: changed.set())
    try:
        async with asyncio.timeout(DEADLINE):
            while True:
                changed.clear()
                found = await scheduler.get_execution(execution.id)
                if found.state in ENDED:
                    return found
                await changed.wait()
    finally:
        forget()


async def test_a_function_stays_callable_and_runs_as_a_job(url):
    scheduler = Scheduler(url)
    calls = []

    @scheduler.job()
    async def greet(name: str, times: int = 1) -> str:
        calls.append((name, times))
        return name * times

    assert await greet("a") == "a"
    async with scheduler:
        done = await ended(scheduler, await greet.trigger("b", times=2))
    assert calls == [("a", 1), ("b", 2)]
    assert done.state is State.SUCCEEDED
    assert done.result == "bb"


async def test_a_trigger_fires_on_the_dot_and_never_early(url):
    scheduler = Scheduler(url)
    started: asyncio.Queue[tuple[datetime, datetime]] = asyncio.Queue()

    @scheduler.job(Every("200ms"))
    async def tick(run: Run) -> None:
        started.put_nowait((run.fire_time, datetime.now(UTC)))

    async with scheduler, asyncio.timeout(DEADLINE):
        seen = [await started.get() for _ in range(4)]
    fires = [fire for fire, _ in seen]
    assert fires == sorted(set(fires))
    assert all(now >= fire for fire, now in seen)


async def test_a_sync_handler_runs_in_a_thread_beside_the_loop(url):
    scheduler = Scheduler(url)

    @scheduler.job()
    def blocking(run: Run) -> int:
        return run.attempt

    async with scheduler:
        assert (await ended(scheduler, await blocking.trigger())).result == 1


async def test_failures_are_retried_and_end_as_a_dead_letter(url):
    scheduler = Scheduler(url)

    @scheduler.job(retry=Retry(max_attempts=2, delay="1ms", jitter=0))
    async def broken() -> None:
        raise OSError("no route")

    async with scheduler:
        done = await ended(scheduler, await broken.trigger())
    assert done.state is State.DEAD
    assert [attempt.outcome for attempt in done.attempts] == ["failed", "failed"]
    assert "no route" in (done.error or "")


async def test_the_same_key_is_the_same_execution(url):
    scheduler = Scheduler(url)

    @scheduler.job()
    async def once() -> None: ...

    async with scheduler:
        first = await scheduler.trigger("once", key="order-1")
        assert (await scheduler.trigger("once", key="order-1")).id == first.id


async def test_a_running_attempt_is_cancelled_on_request(url):
    scheduler = Scheduler(url, settings=Settings(beat="200ms"))
    running = asyncio.Event()

    @scheduler.job()
    async def forever() -> None:
        running.set()
        await asyncio.Event().wait()

    async with scheduler:
        execution = await forever.trigger()
        async with asyncio.timeout(DEADLINE):
            await running.wait()
        await scheduler.cancel(execution.id)
        assert (await ended(scheduler, execution)).state is State.CANCELLED


async def test_two_schedulers_on_one_file_declare_the_same_jobs_once(tmp_path):
    def make():
        scheduler = Scheduler(f"sqlite:///{tmp_path}/jobs.db", app="web")

        @scheduler.job(Every("1h"), name="hourly")
        async def hourly() -> None: ...

        return scheduler

    first, second = make(), make()
    async with asyncio.timeout(DEADLINE):
        await asyncio.gather(first.start(), second.start())
    job = await first.get_job("hourly")
    assert job.version == 1
    assert job.app == "web"
    await asyncio.gather(first.stop(), second.stop())


async def test_a_changed_declaration_edits_the_job_and_an_unchanged_one_keeps_edits(tmp_path):
    async def start_with(period):
        scheduler = Scheduler(f"sqlite:///{tmp_path}/jobs.db")

        @scheduler.job(Every(period), name="poll")
        async def poll() -> None: ...

        async with scheduler:
            return await scheduler.get_job("poll")

    assert (await start_with("1h")).version == 1
    assert (await start_with("1h")).version == 1
    changed = await start_with("2h")
    assert changed.version == 2
    assert changed.trigger == Every("2h")


async def test_pause_and_resume(url):
    scheduler = Scheduler(url)

    @scheduler.job(Every("1h"))
    async def hourly() -> None: ...

    async with scheduler:
        await scheduler.pause_job("hourly", by="me", why="maintenance")
        paused = await scheduler.get_job("hourly")
        assert paused.state is JobState.PAUSED
        await scheduler.resume_job("hourly")
        resumed = await scheduler.get_job("hourly")
        assert resumed.state is JobState.ACTIVE


async def test_events_of_batches_reach_a_listener_and_a_broken_one_harms_nobody(url):
    scheduler = Scheduler(url)
    heard = asyncio.Event()

    def broken(event):
        raise ValueError("mine")

    scheduler.subscribe(broken)
    scheduler.subscribe(lambda event: heard.set() if isinstance(event, AttemptsFinished) else None)

    @scheduler.job()
    async def noop() -> None: ...

    async with scheduler:
        await ended(scheduler, await noop.trigger())
        assert heard.is_set()
        assert scheduler.health().ok
    assert not scheduler.health().ok


async def test_wrong_arguments_are_refused_when_a_run_is_requested(url):
    scheduler = Scheduler(url)

    @scheduler.job()
    async def mail(user_id: int) -> None: ...

    async with scheduler:
        with pytest.raises(InvalidPayload, match="user_id"):
            await mail.trigger()  # type: ignore[call-arg]
        with pytest.raises(InvalidPayload, match="unexpected"):
            await mail.trigger(user_id=1, other=2)  # type: ignore[call-arg]
        with pytest.raises(InvalidPayload, match="cannot be called so"):
            await scheduler.trigger("mail", {"nobody": 1})
        # As another process would ask, which does not know the handler.
        internals(scheduler).executions.check = lambda _job, _payload: None
        asked = await internals(scheduler).executions.trigger(
            "default", "mail", payload={"nobody": 1}
        )
        done = await ended(scheduler, asked)
    assert done.state is State.DEAD
    assert done.attempt == 1
    assert "cannot be called so" in (done.error or "")


async def test_bad_input_gets_one_clear_sentence(url):
    scheduler = Scheduler(url)

    @scheduler.job()
    async def noop() -> None: ...

    with pytest.raises(DuplicateHandler, match="noop"):
        scheduler.job(name="noop")(noop)
    with pytest.raises(InvalidPayload, match="user_id"):

        @scheduler.job(Every("1m"))
        async def needs(user_id: int) -> None: ...

    for policies, words in (
        ({"priority": 11}, "priority"),
        ({"retries": 3}, "Did you mean retry"),
        ({"misfire": "never"}, "misfire.policy: .* not one of skip"),
        ({"misfire": 5}, "Misfire"),
        ({"retry": 0}, "retry.max_attempts"),
        ({"retry": "3"}, "Retry"),
        ({"timeout": "soon"}, "timeout.hard"),
        ({"overlap": "sometimes"}, "not one of skip"),
        ({"expires": "soon"}, "expires"),
    ):
        with pytest.raises(InvalidJob, match=words):
            scheduler.job(name="urgent", **policies)(noop)
    async with scheduler:
        past = Once(datetime(2020, 1, 1, tzinfo=UTC))
        with pytest.raises(InvalidTrigger, match="is past"):
            await scheduler.add_job("late", past, Call("noop"))
        with pytest.raises(NotFound, match="nothing"):
            await scheduler.trigger("nothing")
        with pytest.raises(NotRunning):
            internals(scheduler).move_to("memory://")


def test_durations_and_choices_may_be_written_as_people_write_them():
    written: dict[str, Any] = {"delay": "5s", "cap": timedelta(minutes=1), "backoff": "fixed"}
    retry = Retry(**written)
    assert (retry.delay, retry.cap, retry.backoff) == (5000, 60_000, Backoff.FIXED)
    brief: dict[str, Any] = {"hard": "1m"}
    assert Timeout(**brief) == Timeout(soft="54s", hard="1m")


@pytest.mark.parametrize(("field", "value"), [("delay", "a while"), ("backoff", "steep")])
def test_what_nobody_can_read_is_refused_by_its_field(field, value):
    with pytest.raises(InvalidJob, match=rf"retry\.{field}"):
        Retry(**{field: value})


async def test_jobs_can_be_read_and_changed_without_running(tmp_path):
    scheduler = Scheduler(f"sqlite:///{tmp_path}/jobs.db")
    await scheduler.open()
    await scheduler.add_job("hourly", Every("1h"), Call("hourly"))
    assert (await scheduler.get_job("hourly")).name == "hourly"
    await scheduler.stop()


def test_unknown_stores_are_refused_by_name():
    with pytest.raises(InvalidSetting, match="sqlite:///"):
        Scheduler("oracle://prod")


async def test_overlap_skip_leaves_a_trace(url):
    scheduler = Scheduler(url)
    release = asyncio.Event()

    @scheduler.job(overlap=Overlap.SKIP)
    async def slow() -> None:
        await release.wait()

    async with scheduler:
        run = internals(scheduler).executions.trigger
        first = await run("default", "slow", overlap=Overlap.SKIP)
        second = await run("default", "slow", overlap=Overlap.SKIP)
        assert second.state is State.SKIPPED
        assert second.reason == "overlap"
        release.set()
        assert (await ended(scheduler, first)).state is State.SUCCEEDED
