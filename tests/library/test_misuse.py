"""What people do that nobody planned for."""

import asyncio

import pytest

from tickwell import Every, Retry, Run, Scheduler, Settings, State
from tickwell.errors import InvalidInput, InvalidJob, InvalidPayload, InvalidTrigger, NotRunning
from tickwell.testing.contract.builders import T0

DEADLINE = 100


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/jobs.db"


async def run_once(scheduler, function, *args, **kwargs):
    """Run a declared function as a job, and wait for its end on the engine's events."""
    changed = asyncio.Event()
    scheduler.subscribe(lambda _: changed.set())
    async with scheduler, asyncio.timeout(DEADLINE):
        execution = await function.trigger(*args, **kwargs)
        while execution.state not in {State.SUCCEEDED, State.DEAD}:
            await changed.wait()
            changed.clear()
            execution = await scheduler.get_execution(execution.id)
    return execution


async def test_the_first_uses_at_once_open_the_store_once(url):
    scheduler = Scheduler(url)

    @scheduler.job()
    async def noop() -> None: ...

    async with asyncio.timeout(DEADLINE):
        await asyncio.gather(*(scheduler.start() for _ in range(5)))
        await asyncio.gather(*(noop.trigger() for _ in range(20)))
        await scheduler.stop()
        await scheduler.stop()


async def test_a_handler_may_stop_its_own_scheduler(url):
    scheduler = Scheduler(url, settings=Settings(drain_timeout="100ms"))
    asked = asyncio.Event()

    @scheduler.job()
    async def last() -> None:
        asked.set()
        await scheduler.stop()

    async with asyncio.timeout(DEADLINE):
        await scheduler.start()
        await last.trigger()
        await asked.wait()
        await scheduler.stop()
    assert not scheduler.is_running


class Odd(BaseException):
    """Not an Exception."""


class Unprintable:
    def __repr__(self):
        raise ValueError("no")


async def test_whatever_a_handler_raises_is_a_failed_attempt(url):
    scheduler = Scheduler(url, settings=Settings(capacity=1, threads=1))

    @scheduler.job(retry=Retry(max_attempts=1))
    async def odd() -> None:
        raise Odd

    @scheduler.job(retry=Retry(max_attempts=1))
    def empty() -> None:
        next(iter(()))

    for function in (odd, empty):
        execution = await run_once(scheduler, function)
        assert execution.state is State.DEAD


async def test_whatever_a_handler_returns_is_a_success(url):
    scheduler = Scheduler(url)

    @scheduler.job()
    async def unprintable() -> object:
        return Unprintable()

    def plain(function):
        def call():
            return function()

        return call

    @scheduler.job(name="wrapped")
    @plain
    async def wrapped() -> str:
        return "ran"

    noted = (await run_once(scheduler, unprintable)).result
    assert noted["begins"] == "<Unprintable>"
    assert (await run_once(scheduler, wrapped)).result == "ran"


async def test_arguments_arrive_as_they_were_given(url):
    scheduler = Scheduler(url)

    @scheduler.job()
    async def options(run: Run, a: int = 0, **more: str) -> list[object]:
        return [run.attempt, a, more]

    assert (await run_once(scheduler, options, 3, color="red")).result == [1, 3, {"color": "red"}]


def test_what_never_ends_or_is_no_function_is_refused(url):
    scheduler = Scheduler(url)

    def endless():
        yield 1

    for refused in (endless, 5):
        with pytest.raises(InvalidJob):
            scheduler.job(name="refused")(refused)  # type: ignore[arg-type]
    with pytest.raises(InvalidTrigger, match=r"is not a trigger\. Write @scheduler\.job\(\) with"):
        scheduler.job(endless)  # type: ignore[arg-type]


def test_a_refused_declaration_can_be_corrected(url):
    scheduler = Scheduler(url)

    async def mail(user_id: int) -> None: ...

    with pytest.raises(InvalidPayload, match="user_id"):
        scheduler.job(Every("1m"))(mail)
    scheduler.job(Every("1m"), payload={"user_id": T0})(mail)


@pytest.mark.parametrize(
    "policies",
    [
        {"expires": 10**19},
        {"expires": 1500.5},
        {"pause_after": 5.0},
        {"description": 5},
        {"auto_remove": 1},
        {"tags": (1, 2)},
        {"payload": {"at": object()}},
    ],
)
async def test_nothing_is_written_that_could_not_be_read(url, policies):
    scheduler = Scheduler(url)

    async def noop(**_: object) -> None: ...

    async def declare_and_start():
        scheduler.job(Every("1h"), **policies)(noop)
        await scheduler.start()

    with pytest.raises(InvalidInput):
        await declare_and_start()
    await scheduler.stop()


async def test_running_inside_an_event_loop_is_told_how(url):
    with pytest.raises(NotRunning, match=r"write `await scheduler\.serve\(\)`$"):
        Scheduler(url).run()
