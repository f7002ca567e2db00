"""Jobs and runs by name, with datetimes and durations as people write them."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from tickwell import Call, Every, Execution, Retry, Scheduler, State
from tickwell.errors import InvalidInput, NotFound
from tickwell.events import AttemptsFinished, ListenerFailed

NOON = datetime(2100, 1, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
async def scheduler():
    scheduler = Scheduler("memory://", project="p", app="shop")

    @scheduler.job()
    async def mail(user_id: int, at: datetime | None = None) -> None: ...

    async with scheduler:
        yield scheduler


async def test_a_job_from_its_addition_to_its_end(scheduler):
    added = await scheduler.add_job("ping", Every("5m"), Call("mail"), payload={"user_id": 1})
    assert await scheduler.get_job("ping") == added
    assert [job.name for job in await scheduler.jobs(search="PIN")] == ["ping"]
    edited = await scheduler.edit_job("ping", trigger=Every("1h"), overlap="queue_one")
    assert (edited.version, edited.payload) == (2, {"user_id": 1})
    assert len(await scheduler.next_fires("ping", 3)) == 3
    paused = await scheduler.pause_job("ping", why="lunch", until="1h")
    pause = paused.job.pause
    assert (pause.by, pause.why, pause.until - pause.since) == ("shop", "lunch", HOUR)
    assert [job.name for job in await scheduler.jobs(state="paused")] == ["ping"]
    await scheduler.resume_job("ping")
    await scheduler.delete_job("ping")
    with pytest.raises(NotFound, match="no job 'ping'"):
        await scheduler.get_job("ping")


async def test_all_pages_of_jobs_are_read(scheduler):
    for number in range(150):
        await scheduler.add_job(f"job-{number:03}", None, Call("mail"))
    assert len(await scheduler.jobs()) == 151


async def test_a_run_later(scheduler):
    at = await scheduler.trigger_at(NOON, "mail", {"user_id": 7})
    assert at.run_at == NOON
    later = await scheduler.trigger_in(timedelta(days=1), "mail", {"user_id": 7}, key="k")
    assert later.run_at - later.created_at == timedelta(days=1)
    assert (await scheduler.trigger_in("2d", "mail", {"user_id": 7}, key="k")).id == later.id
    history = await scheduler.executions(job="mail")
    assert {one.id for one in history} == {at.id, later.id}
    await scheduler.cancel(later.id)
    assert (await scheduler.get_execution(later.id)).state is State.CANCELLED


async def test_a_declared_function_later_and_once_per_key():
    scheduler = Scheduler("memory://")

    @scheduler.job()
    async def mail(user_id: int, at: datetime | None = None) -> None: ...

    async with scheduler:
        at: Execution[None] = await mail.trigger_at(NOON, 7, at=NOON)
        assert at.payload == {"user_id": 7, "at": NOON.isoformat()}
        later = await mail.options(key="order-1").trigger_in("1d", 8)
        assert (await mail.options(key="order-1").trigger_in("1d", 8)).id == later.id


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda s: s.trigger_at(datetime(2100, 1, 1), "mail"), "no time zone"),  # noqa: DTZ001
        (lambda s: s.trigger_in("soon", "mail"), "delay: 'soon' is not a duration"),
        (lambda s: s.pause_job("mail", until=datetime(2020, 1, 1, tzinfo=UTC)), "is past"),
        (lambda s: s.pause_job("mail", until="later"), "until: 'later' is not a duration"),
        (lambda s: s.add_job("x", "5m", Call("mail")), "'5m' is not a trigger"),
        (
            lambda s: s.add_job("x", (Every("5m"), Every("7m")), Call("mail")),
            "several in one job: AnyOf",
        ),
        (lambda s: s.edit_job("mail", retries=3), "retries: is not a policy"),
        (lambda s: s.trigger("mail", {"user_id": "x"}), r"payload\.user_id"),
        (lambda s: s.trigger("mail"), "it needs 'user_id'"),
        (lambda s: s.add_job("x", Every("1h"), Call("mail")), "it needs 'user_id'"),
    ],
)
async def test_bad_input_changes_nothing_and_says_what_to_do(scheduler, ask, words):
    before = await scheduler.jobs()
    with pytest.raises(InvalidInput, match=words):
        await ask(scheduler)
    assert await scheduler.jobs() == before
    assert await scheduler.executions(job="mail") == []


async def test_hooks_hear_start_idle_error_events_and_stop():
    scheduler = Scheduler("memory://")
    heard: list[str] = []
    idle = asyncio.Event()

    @scheduler.on("start")
    def started() -> None:
        heard.append("start")

    @scheduler.on("stop")
    async def stopped(event: object) -> None:
        await asyncio.sleep(0)
        heard.append("stop")

    @scheduler.on("idle")
    async def rests() -> None:
        idle.set()

    @scheduler.on("error")
    def failed(event: object) -> None:
        if isinstance(event, AttemptsFinished):
            heard.extend(report.job for report in event.reports)

    @scheduler.on(AttemptsFinished)
    def finished(event: AttemptsFinished) -> None:
        heard.append(f"finished {len(event.reports)}")

    @scheduler.job(retry=Retry(delay="1h"))
    async def breaks() -> None:
        raise ValueError

    async with asyncio.timeout(100), scheduler:
        assert scheduler.is_running
        await idle.wait()
        assert scheduler.is_idle
        assert not scheduler.is_processing
        idle.clear()
        await breaks.trigger()
        await idle.wait()
    assert heard == ["start", "breaks", "finished 1", "stop"]
    assert not scheduler.is_idle


async def test_a_hook_that_fails_is_told_and_harms_nobody():
    scheduler = Scheduler("memory://")
    told = []

    @scheduler.on("start")
    async def broken() -> None:
        raise ValueError("mine")

    @scheduler.on(ListenerFailed)
    def note(event: ListenerFailed) -> None:
        told.append(event.listener.rpartition(".")[2])

    async with scheduler:
        pass
    assert told == ["broken"]


def test_a_hook_for_nothing_is_refused():
    with pytest.raises(InvalidInput, match="Use one of start, stop, idle, error, event"):
        Scheduler("memory://").on("begin")(print)  # type: ignore[arg-type]
