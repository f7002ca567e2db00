"""Handlers behind decorators that supply arguments, and handlers that are classes."""

import functools
import inspect
from datetime import date
from typing import Any

import pytest

from tests.executors.running import run_to_end
from tickwell import Depends, Every, Run, Scheduler
from tickwell.errors import InvalidJob, InvalidPayload


class Session:
    """No payload can hold one."""


@pytest.fixture
def scheduler():
    return Scheduler("memory://")


def with_session(function):
    @functools.wraps(function)
    async def call(*args, **kwargs):
        return await function(*args, session=Session(), **kwargs)

    return call


def with_session_first(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        return function(Session(), *args, **kwargs)

    return call


def traced(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        return function(*args, **kwargs)

    return call


async def test_what_no_payload_can_hold_is_the_decorators_to_supply(scheduler):
    @scheduler.job(Every("1h"), payload={"day": "2026-11-18"})
    @with_session
    async def report(day: date, session: Session) -> str:
        return f"{day:%d %b} {type(session).__name__}"

    @scheduler.job()
    @with_session_first
    def clean(session: Session, day: date) -> str:
        return f"{day:%d %b} {type(session).__name__}"

    for function in (report, clean):
        one = await run_to_end(scheduler, function, date(2026, 11, 18))
        assert one.result == "18 Nov Session"
    with pytest.raises(InvalidPayload, match=r"it needs 'day'\. Its parameters are \(day: "):
        await report.trigger()
    with pytest.raises(InvalidPayload, match="it takes no 'session'"):
        await scheduler.trigger("report", {"day": "2026-11-18", "session": 1})


async def test_what_has_no_type_may_be_the_decorators_to_supply(scheduler):
    @scheduler.job()
    @with_session
    async def report(day, session):
        return f"{day} {type(session).__name__}"

    assert (await run_to_end(scheduler, report, day="today")).result == "today Session"


async def test_a_decorator_that_supplies_nothing_changes_nothing(scheduler):
    @scheduler.job()
    @traced
    @traced
    def add(a: int, b: int = 2) -> int:
        return a + b

    assert (await run_to_end(scheduler, add, 1)).result == 3
    with pytest.raises(InvalidPayload, match="it needs 'a'"):
        await add.trigger(b=1)
    with pytest.raises(InvalidPayload, match="takes a whole number here"):
        await add.trigger("x")


async def test_parameters_of_the_decorators_own_count(scheduler):
    def for_tenant(function):
        @functools.wraps(function)
        def call(tenant, **kwargs):
            return function(name=tenant.upper(), **kwargs)

        return call

    def fixed(function):
        @functools.wraps(function)
        def call(n):
            return function(n, "fixed")

        return call

    @scheduler.job()
    @for_tenant
    def hello(name: Session, times: int = 1) -> str:
        return str(name) * times

    @scheduler.job()
    @fixed
    def say(n: int, word: str) -> str:
        return word * n

    assert (await run_to_end(scheduler, hello, tenant="ada", times=2)).result == "ADAADA"
    assert (await run_to_end(scheduler, say, 2)).result == "fixedfixed"


async def test_a_signature_that_a_decorator_sets_is_believed(scheduler):
    def with_region(function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            return function(*args, region="eu", **kwargs)

        own = inspect.signature(function)
        rest = [one for name, one in own.parameters.items() if name != "region"]
        call.__signature__ = own.replace(parameters=rest)  # type: ignore[attr-defined]
        return call

    @scheduler.job()
    @with_region
    def clean(n: int, region: str) -> str:
        return region * n

    assert (await run_to_end(scheduler, clean, 2)).result == "eueu"
    with pytest.raises(InvalidPayload, match="it takes no 'region'"):
        await scheduler.trigger("clean", {"n": 2, "region": "us"})


async def test_the_run_and_dependencies_go_through_decorators(scheduler):
    def unit() -> str:
        return "unit"

    @scheduler.job()
    @with_session
    async def work(run: Run, n: int, session: Session, made: str = Depends(unit)) -> list[Any]:
        return [run.attempt, n, type(session).__name__, made]

    assert (await run_to_end(scheduler, work, 7)).result == [1, 7, "Session", "unit"]


def test_without_a_decorator_it_is_refused_with_what_to_do(scheduler):
    with pytest.raises(InvalidJob) as caught:

        @scheduler.job()
        def work(session: Session) -> None: ...

    assert str(caught.value) == (
        "handler: handler 'work' takes Session as 'session', which no payload can hold. Mark what"
        " is made for each attempt with Depends(…); for data use a dataclass, a TypedDict, a"
        " pydantic model, or Any"
    )


async def test_what_has_a_default_stays_at_it(scheduler):
    @scheduler.job()
    def work(session: Session = Session()) -> str:  # noqa: B008 - as older code does
        return type(session).__name__

    assert (await run_to_end(scheduler, work)).result == "Session"
    with pytest.raises(InvalidPayload, match="it takes no 'session'"):
        await scheduler.trigger("work", {"session": 1})


def session() -> Session:
    return Session()


async def test_a_class_is_made_for_each_attempt(scheduler):
    made = []

    @scheduler.job(Every("1h"), payload={"day": "2026-11-18"})
    class Report:
        def __init__(self, session: Session = Depends(session)) -> None:
            self.session = session
            made.append(self)

        async def run(self, run: Run, day: date, times: int = 1) -> str:
            return f"{day:%d %b} {run.job} {type(self.session).__name__}" * times

    one = await run_to_end(scheduler, Report, date(2026, 11, 18))
    await run_to_end(scheduler, Report, day=date(2026, 11, 18))
    assert one.result == "18 Nov Report Session"
    assert len({id(each) for each in made}) == 2
    with pytest.raises(InvalidPayload, match="it needs 'day'"):
        await scheduler.trigger("Report", {})


async def test_a_class_may_be_called_instead(scheduler):
    @scheduler.job(name="adder")
    class Adder:
        """Adds."""

        def __call__(self, a: int, b: int) -> int:
            return a + b

    assert (await run_to_end(scheduler, Adder, 1, b=2)).result == 3
    assert Adder()(1, 2) == 3
    assert Adder.__doc__ == "Adds."


async def test_an_object_that_can_be_called_is_a_handler(scheduler):
    class Adder:
        async def __call__(self, a: int, b: int) -> int:
            return a + b

    add = scheduler.job(name="adder")(Adder())
    assert (await run_to_end(scheduler, add, 1, b=2)).result == 3


async def test_a_method_and_a_partial_are_handlers(scheduler):
    class Shop:
        def clean(self, n: int) -> int:
            return n + 1

    clean = scheduler.job(name="clean")(Shop().clean)
    twice = scheduler.job(name="twice")(functools.partial(lambda n, times: n * times, times=2))
    assert (await run_to_end(scheduler, clean, 1)).result == 2
    assert (await run_to_end(scheduler, twice, n=2)).result == 4


def test_a_class_without_a_method_is_refused(scheduler):
    with pytest.raises(InvalidJob, match="has no method run or __call__"):

        @scheduler.job()
        class Nothing:
            pass


def test_what_its_constructor_needs_is_said(scheduler):
    with pytest.raises(InvalidJob, match="needs 'url', which a job cannot supply"):

        @scheduler.job()
        class Report:
            def __init__(self, url: str) -> None: ...

            def run(self) -> None: ...
