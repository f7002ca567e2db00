"""What people do that nobody planned for."""

import asyncio
import pickle
import traceback
from typing import Any

import pytest

from tickwell import (
    Call,
    Concurrency,
    Every,
    GiveUp,
    Retry,
    Run,
    Scheduler,
    Settings,
    State,
)
from tickwell.errors import (
    InvalidInput,
    InvalidJob,
    InvalidPayload,
    InvalidTrigger,
    NotFound,
    NotRunning,
)
from tickwell.testing import FakeRun
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


@pytest.mark.parametrize(
    ("policies", "field", "said"),
    [
        (
            {"rate": "5/1m", "rate_key": "{payload.custmer}"},
            "rate_key",
            "has no parameter 'custmer'. Did you mean {payload.customer}?",
        ),
        (
            {"unless": "pending", "unique_key": "{payload.region.id}-{payload.customer}"},
            "unique_key",
            "has no parameter 'region'. Its parameters are (customer: int)",
        ),
        (
            {"concurrency": Concurrency("to-{{payload.custmer}}")},
            "concurrency.key",
            "has no parameter 'custmer'. Did you mean {payload.customer}?",
        ),
        (
            {"concurrency": Concurrency("to-{customer}")},
            "concurrency.key",
            "'customer' is not a field of the payload. For example",
        ),
    ],
)
def test_a_key_that_all_runs_would_share_by_mistake_is_refused(policies, field, said):
    scheduler = Scheduler("memory://")
    with pytest.raises(InvalidJob) as caught:

        @scheduler.job(**policies)
        def sync(run: Run, customer: int): ...

    assert caught.value.field == field
    assert said in str(caught.value)


def test_a_key_may_name_what_the_handler_takes_as_others():
    scheduler = Scheduler("memory://")

    @scheduler.job(rate="5/1m", rate_key="{job.name}-{payload.customer}-{payload.other}")
    def sync(customer: int, **others: object) -> None: ...


@pytest.mark.parametrize(
    ("policies", "hint"),
    [
        ({"max_instances": 1}, "Did you mean overlap?"),
        ({"coalesce": True}, "Did you mean misfire?"),
        ({"timezone": "Europe/Rome"}, "Did you mean tz?"),
        ({"rate_limit": "5/s"}, "Did you mean rate?"),
        ({"minutes": 5}, 'It belongs to the trigger: Every("5m") or Cron("0 9 * * mon-fri")'),
    ],
)
def test_words_of_other_schedulers_are_answered_with_ours(policies, hint):
    with pytest.raises(InvalidJob, match="is not a policy of a job") as caught:
        Scheduler("memory://").job(**policies)
    assert caught.value.hint == hint


def test_a_hook_without_parentheses_is_refused():
    scheduler: Any = Scheduler("memory://")
    with pytest.raises(InvalidInput, match=r'Write @scheduler.on\("error"\)'):

        @scheduler.on
        def alert(event): ...


async def test_a_request_by_a_misspelt_name_or_with_bare_arguments_says_what_was_meant():
    scheduler: Any = Scheduler("memory://")

    @scheduler.job()
    async def send_mail(to: int) -> None: ...

    async with scheduler:
        with pytest.raises(NotFound, match=r"no job 'send_mial' .* Did you mean 'send_mail'\?"):
            await scheduler.trigger("send_mial", {"to": 1})
        with pytest.raises(NotFound, match=r"no job 'report' in this project$"):
            await scheduler.trigger("report")
        with pytest.raises(InvalidInput, match=r"trigger\('send_mail', \{'to': …\}\)"):
            await scheduler.trigger("send_mail", to=1)


async def test_a_parameter_named_run_without_a_type_is_explained():
    scheduler = Scheduler("memory://")

    @scheduler.job()
    async def report(run) -> None: ...

    async with scheduler:
        with pytest.raises(InvalidPayload, match="To receive the attempt, write run: Run"):
            await report.trigger()


async def test_a_declared_job_whose_payload_does_not_fit_is_named():
    scheduler = Scheduler("memory://")

    @scheduler.job()
    def shell(command: str) -> None: ...

    scheduler.declare("nightly", Every("1h"), Call("shell"), payload={"command": "true"})
    scheduler.declare("hourly", Every("1h"), Call("shell"), payload={"command": 7})
    with pytest.raises(InvalidPayload, match="job 'hourly' does not fit: handler 'shell' takes"):
        await scheduler.sync()


@pytest.mark.parametrize("is_async", [True, False])
def test_a_step_that_is_called_instead_of_passed_is_explained(is_async):
    async def charge() -> None: ...

    result: Any = charge() if is_async else 7
    with pytest.raises(InvalidInput, match=r"Write run.step\('a', charge, order\)"):
        FakeRun().step("a", result)


def test_tracebacks_name_what_people_import():
    [line] = traceback.format_exception_only(GiveUp("closed"))
    assert line == "tickwell.GiveUp: closed\n"
    assert isinstance(pickle.loads(pickle.dumps(GiveUp("closed"))), GiveUp)
