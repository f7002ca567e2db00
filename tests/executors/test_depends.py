"""Parameters that are made for each attempt, and closed after it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from contextvars import ContextVar
from typing import TYPE_CHECKING, Annotated, Self

import fastapi
import pytest

from tests.executors.running import DEADLINE, run_to_end, until
from tickwell import Depends, Every, GiveUp, Retry, Run, Scheduler, Settings, State, Timeout
from tickwell.errors import InvalidJob, InvalidPayload

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

LOG: list[object] = []
OPEN: ContextVar[str] = ContextVar("OPEN")


class Session:
    """Something that is opened and closed."""

    def __init__(self, name: str = "session") -> None:
        self.name = name


def plain() -> str:
    LOG.append("plain")
    return "plain"


async def awaited() -> str:
    await asyncio.sleep(0)
    LOG.append("awaited")
    return "awaited"


def generated():
    LOG.append("open generated")
    try:
        yield Session("generated")
    except BaseException as error:
        LOG.append(type(error).__name__)
        raise
    finally:
        LOG.append("close generated")


async def generated_async():
    token = OPEN.set("open")
    LOG.append("open async")
    try:
        async with asyncio.timeout(60):  # which has to end in the task in which it began
            yield Session("async")
    except BaseException as error:
        LOG.append(f"async {type(error).__name__}")
        raise
    finally:
        await asyncio.sleep(0)
        OPEN.reset(token)
        LOG.append("close async")


@contextlib.contextmanager
def managed(outer: Session = Depends(generated)):
    LOG.append(f"open managed in {outer.name}")
    yield Session("managed")
    LOG.append("close managed")


@contextlib.asynccontextmanager
async def managed_async(run: Run, outer: Annotated[Session, Depends(generated_async)]):
    LOG.append(f"open managed async of {run.job} in {outer.name}")
    yield Session("managed async")
    LOG.append("close managed async")


class Unit:
    """A context manager by itself."""

    def __init__(self, session: Annotated[Session, Depends(generated)]) -> None:
        self.session = session

    def __enter__(self) -> Self:
        LOG.append("enter unit")
        return self

    def __exit__(self, *_: object) -> None:
        LOG.append("exit unit")


@pytest.fixture
def scheduler():
    LOG.clear()
    return Scheduler("memory://", settings=Settings(beat="200ms"))


def both(scheduler, factory, **policies):
    """A handler of each kind that says what it got."""

    @scheduler.job(name="in the loop", **policies)
    async def in_the_loop(n: int, made: object = Depends(factory)) -> list[object]:
        LOG.append("handler")
        return [n, getattr(made, "name", made)]

    @scheduler.job(name="in a thread", **policies)
    def in_a_thread(n: int, made: object = Depends(factory)) -> list[object]:
        LOG.append("handler")
        return [n, getattr(made, "name", made)]

    return in_the_loop, in_a_thread


@pytest.mark.parametrize(
    ("factory", "value", "log"),
    [
        (plain, "plain", ["plain", "handler"]),
        (awaited, "awaited", ["awaited", "handler"]),
        (generated, "generated", ["open generated", "handler", "close generated"]),
        (generated_async, "async", ["open async", "handler", "close async"]),
        (
            managed,
            "managed",
            [
                "open generated",
                "open managed in generated",
                "handler",
                "close managed",
                "close generated",
            ],
        ),
        (
            managed_async,
            "managed async",
            [
                "open async",
                "open managed async of {job} in async",
                "handler",
                "close managed async",
                "close async",
            ],
        ),
        (Session, "session", ["handler"]),
        (Session("an object"), None, None),
    ],
)
async def test_what_a_factory_makes_is_given_and_closed_in_reverse_order(
    scheduler, factory, value, log
):
    if value is None:
        with pytest.raises(InvalidJob, match="depends on"):
            both(scheduler, factory)
        return
    for function in both(scheduler, factory):
        LOG.clear()
        one = await run_to_end(scheduler, function, 7)
        assert (one.state, one.result) == (State.SUCCEEDED, [7, value])
        assert [each.format(job=function.name) for each in log] == LOG


async def test_an_object_that_can_be_called_is_a_factory(scheduler):
    class Prefix:
        def __init__(self, text: str) -> None:
            self.text = text

        async def __call__(self, run: Run) -> str:
            return f"{self.text} {run.attempt}"

    for function in both(scheduler, Prefix("attempt")):
        assert (await run_to_end(scheduler, function, 1)).result == [1, "attempt 1"]


async def test_a_class_is_entered_if_it_can_be(scheduler):
    @scheduler.job()
    def work(unit: Annotated[Unit, Depends()]) -> str:
        return unit.session.name

    assert (await run_to_end(scheduler, work)).result == "generated"
    assert LOG == ["open generated", "enter unit", "exit unit", "close generated"]


async def test_each_attempt_has_its_own_which_all_of_it_share(scheduler):
    def number() -> object:
        LOG.append("made")
        return object()

    def left(it: object = Depends(number)) -> object:
        return it

    def right(it: object = Depends(number)) -> object:
        return it

    def fresh(it: object = Depends(number, use_cache=False)) -> object:
        return it

    @scheduler.job(retry=Retry(delay="1ms"))
    async def work(
        run: Run,
        a: object = Depends(left),
        b: object = Depends(right),
        c: object = Depends(fresh),
    ) -> bool:
        assert a is b
        assert a is not c
        if run.attempt == 1:
            raise ValueError("once more")
        return True

    one = await run_to_end(scheduler, work)
    assert (one.result, one.attempt) == (True, 2)
    assert LOG == ["made"] * 4


@pytest.mark.parametrize("factory", [managed, managed_async])
async def test_all_is_closed_when_the_handler_fails_and_sees_why(scheduler, factory):
    @scheduler.job(retry=5)
    async def in_the_loop(made: Session = Depends(factory)) -> None:
        raise GiveUp("no such account")

    @scheduler.job(retry=5)
    def in_a_thread(made: Session = Depends(factory)) -> None:
        raise GiveUp("no such account")

    for function in (in_the_loop, in_a_thread):
        LOG.clear()
        one = await run_to_end(scheduler, function)
        assert (one.state, one.attempt) == (State.DEAD, 1)
        assert "no such account" in one.explanation
        assert LOG[2:] in (["GiveUp", "close generated"], ["async GiveUp", "close async"])


async def test_a_factory_that_fails_closes_what_was_open(scheduler):
    def broken(session: Session = Depends(generated)) -> None:
        raise LookupError("no settings")

    for function in both(scheduler, broken, retry=1):
        LOG.clear()
        one = await run_to_end(scheduler, function, 1)
        assert "LookupError: no settings" in one.error
        assert LOG == ["open generated", "LookupError", "close generated"]


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_factory_cannot_make_a_success_of_a_failure(scheduler, is_async):
    def silent():
        with contextlib.suppress(ValueError):
            yield

    async def silent_async():
        with contextlib.suppress(ValueError):
            yield

    @scheduler.job(retry=1)
    async def in_the_loop(_made: object = Depends(silent_async if is_async else silent)) -> None:
        raise ValueError("really")

    @scheduler.job(retry=1)
    def in_a_thread(_made: object = Depends(silent_async if is_async else silent)) -> None:
        raise ValueError("really")

    for function in (in_the_loop, in_a_thread):
        one = await run_to_end(scheduler, function)
        assert one.state is State.DEAD
        assert "ValueError: really" in one.error


async def test_a_failure_to_close_fails_the_attempt(scheduler):
    def uncommitted():
        yield
        raise OSError("the commit failed")

    for function in both(scheduler, uncommitted, retry=1):
        one = await run_to_end(scheduler, function, 1)
        assert "OSError: the commit failed" in one.error


async def test_all_is_closed_at_the_timeout_and_when_cancelled(scheduler):
    begun = asyncio.Event()

    @scheduler.job(timeout=Timeout(soft="50ms", hard="60s"), retry=1)
    async def timed_out(made: Session = Depends(managed_async)) -> None:
        await asyncio.Event().wait()

    @scheduler.job()
    async def cancelled(made: Session = Depends(managed_async)) -> None:
        begun.set()
        await asyncio.Event().wait()

    one = await run_to_end(scheduler, timed_out)
    assert [each.outcome for each in one.attempts] == ["timed_out"]
    assert LOG[2:] == ["async CancelledError", "close async"]
    LOG.clear()
    async with scheduler:
        execution = await cancelled.trigger()
        await asyncio.wait_for(begun.wait(), DEADLINE)
        await scheduler.cancel(execution.id)
        assert (await until(scheduler, execution)).state is State.CANCELLED
    assert LOG[2:] == ["async CancelledError", "close async"]


@pytest.mark.parametrize("how", ["awaited", "entered"])
async def test_an_async_factory_of_a_plain_handler_stops_at_the_timeout(scheduler, how):
    async def hangs() -> None:
        await asyncio.Event().wait()

    async def opens():
        await asyncio.Event().wait()
        yield

    factory: Callable[[], object] = hangs if how == "awaited" else opens

    @scheduler.job(timeout=Timeout(soft="50ms", hard="60s"), retry=1)
    def work(made: Session = Depends(managed_async), more: object = Depends(factory)) -> None: ...

    one = await run_to_end(scheduler, work)
    assert [(each.outcome, each.error) for each in one.attempts] == [
        ("timed_out", "timed out after 0.05 s")
    ]
    assert LOG[2:] == ["async Stopped", "close async"]


async def test_an_async_factory_that_cancels_itself_closes_what_was_open(scheduler):
    async def gives_in() -> None:
        raise asyncio.CancelledError

    @scheduler.job(retry=1)
    def work(made: Session = Depends(managed_async), more: object = Depends(gives_in)) -> None: ...

    one = await run_to_end(scheduler, work)
    assert (one.state, one.error) == (State.DEAD, "the handler cancelled itself")
    assert LOG[2:] == ["async Stopped", "close async"]


async def test_a_plain_handler_is_closed_in_its_own_thread(scheduler):
    def here():
        LOG.append(threading.get_ident())
        yield threading.get_ident()
        LOG.append(threading.get_ident())

    @scheduler.job()
    def work(opened_in: int = Depends(here)) -> bool:
        return opened_in == threading.get_ident()

    assert (await run_to_end(scheduler, work)).result is True
    assert LOG[0] == LOG[1] != threading.get_ident()


async def test_middleware_is_around_the_dependencies(scheduler):
    @scheduler.middleware
    async def around(run, call_next):
        LOG.append("before")
        try:
            return await call_next()
        finally:
            LOG.append("after")

    for function in both(scheduler, generated):
        LOG.clear()
        await run_to_end(scheduler, function, 1)
        assert LOG == ["before", "open generated", "handler", "close generated", "after"]


async def test_no_payload_names_a_dependency(scheduler):
    work, _ = both(scheduler, plain)
    with pytest.raises(InvalidPayload, match=r"it takes no 'made'\. Its parameters are \(n: "):
        await scheduler.trigger("in the loop", {"n": 1, "made": "x"})
    with pytest.raises(InvalidPayload, match="unexpected keyword argument 'made'"):
        await work.trigger(1, made="x")


def test_one_may_call_the_function_with_what_one_likes(scheduler):
    @scheduler.job()
    def work(n: int, session: Session = Depends(generated)) -> str:
        return session.name * n

    assert work(2, Session("x")) == "xx"


def round_trip(it: Annotated[object, Depends(around_trip)]) -> None: ...


def around_trip(it: Annotated[object, Depends(round_trip)]) -> None: ...


def needs_a_token(token: str) -> None: ...


def of_a_request(request: fastapi.Request) -> None: ...


def of_a_header(agent: str = fastapi.Header("x")) -> None: ...


def of_a_query(q: Annotated[str, fastapi.Query()] = "x") -> None: ...


@pytest.mark.parametrize(
    ("factory", "words"),
    [
        (round_trip, "round_trip depends on itself"),
        (needs_a_token, "needs 'token', which a job cannot supply"),
        (of_a_request, "needs 'request', which a job cannot supply"),
        (of_a_header, "needs 'agent', which a job cannot supply"),
        (of_a_query, "needs 'q', which a job cannot supply"),
        ("a text", "depends on 'a text'"),
    ],
)
def test_what_cannot_be_made_is_refused_at_the_decorator(scheduler, factory, words):
    with pytest.raises(InvalidJob, match=words):

        @scheduler.job(Every("1h"))
        def work(made: object = Depends(factory)) -> None: ...


def shop_settings() -> dict[str, str]:
    return {"name": "shop"}


async def shop_session(found: Annotated[dict[str, str], fastapi.Depends(shop_settings)]):
    LOG.append("open")
    yield Session(found["name"])
    LOG.append("close")


Found = Annotated[Session, fastapi.Depends(shop_session)]


async def test_dependencies_of_fastapi_are_understood(scheduler):
    @scheduler.job()
    async def work(n: int, found: Found, again: Session = fastapi.Depends(shop_session)) -> str:
        assert found is again
        return found.name * n

    assert (await run_to_end(scheduler, work, n=2)).result == "shopshop"
    assert LOG == ["open", "close"]


if TYPE_CHECKING:
    from decimal import Decimal as Unknown


def of_unknown() -> Unknown:
    return "known"  # type: ignore[return-value]  # what it is, only type checkers know


async def test_a_name_for_type_checkers_only_does_not_hide_the_mark(scheduler):
    @scheduler.job()
    async def work(
        run: Run,
        day: str,
        made: Annotated[Unknown, Depends(of_unknown)],
        other: Awaitable[int] | None = None,
    ) -> str:
        return f"{made}{day}"

    assert (await run_to_end(scheduler, work, day="!")).result == "known!"
