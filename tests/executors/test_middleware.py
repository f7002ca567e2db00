"""Middleware sees every attempt of a handler: plain and async ones, around plain and async ones."""

import asyncio
import threading
from contextvars import ContextVar
from functools import partial

import pytest

from tests.executors.running import DEADLINE, attempted, run_to_end, until
from tickwell import GiveUp, Retry, Run, Scheduler, Settings, State, Timeout
from tickwell.domain.execution import OutcomeKind
from tickwell.errors import InvalidInput

VALUE: ContextVar[str] = ContextVar("VALUE", default="unset")


@pytest.fixture
def scheduler():
    return Scheduler("memory://", settings=Settings(beat="200ms"))


def declare(scheduler, is_async, body, **policies):
    if is_async:

        @scheduler.job(name="work", **policies)
        async def work(n: int = 1) -> object:
            return body(n)
    else:

        @scheduler.job(name="work", **policies)
        def work(n: int = 1) -> object:
            return body(n)

    return work


def add_middleware(scheduler, kinds, seen):
    for number, is_async in enumerate(kinds):
        if is_async:

            @scheduler.middleware
            async def around(run, call_next, number=number):
                seen.append((number, "before", run.job))
                try:
                    return await call_next()
                finally:
                    seen.append((number, "after", run.job))
        else:

            @scheduler.middleware
            def around(run, call_next, number=number):
                seen.append((number, "before", run.job))
                try:
                    return call_next()
                finally:
                    seen.append((number, "after", run.job))


KINDS = [(True,), (False,), (True, False), (False, True), (True, False, True), (False, False)]


@pytest.mark.parametrize("is_async", [True, False])
@pytest.mark.parametrize("kinds", KINDS)
async def test_the_first_declared_is_the_outermost(scheduler, is_async, kinds):
    seen: list[object] = []
    add_middleware(scheduler, kinds, seen)

    def body(n):
        seen.append("handler")
        return n + 1

    work = declare(scheduler, is_async, body)
    one = await run_to_end(scheduler, work, 41)
    assert (one.state, one.result) == (State.SUCCEEDED, 42)
    numbers = list(range(len(kinds)))
    before = [(number, "before", "work") for number in numbers]
    after = [(number, "after", "work") for number in reversed(numbers)]
    assert seen == [*before, "handler", *after]


@pytest.mark.parametrize("is_async", [True, False])
@pytest.mark.parametrize("kinds", KINDS)
async def test_what_the_handler_raises_passes_through_all_of_them(scheduler, is_async, kinds):
    seen: list[object] = []
    add_middleware(scheduler, kinds, seen)

    def body(_):
        raise GiveUp("the account is closed")

    work = declare(scheduler, is_async, body, retry=5)
    one = await run_to_end(scheduler, work)
    assert (one.state, one.attempt) == (State.DEAD, 1)
    assert "the account is closed" in one.explanation
    assert len(seen) == 2 * len(kinds)


@pytest.mark.parametrize("is_async", [True, False])
@pytest.mark.parametrize("kinds", KINDS)
async def test_a_snooze_is_one_from_inside_of_all_of_them(scheduler, is_async, kinds):
    add_middleware(scheduler, kinds, [])

    def body(run):
        if run.attempt == 1:
            run.snooze("1ms")
        return run.attempt

    if is_async:

        @scheduler.job()
        async def work(run: Run) -> int:
            return body(run)
    else:

        @scheduler.job()
        def work(run: Run) -> int:
            return body(run)

    one = await run_to_end(scheduler, work)
    assert [each.outcome for each in one.attempts] == ["snoozed", "succeeded"]


@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("is_async", [True, False])
async def test_it_is_asked_for_every_attempt_and_may_change_the_result(scheduler, is_async, kinds):
    seen: list[object] = []
    add_middleware(scheduler, kinds, seen)

    @scheduler.middleware
    async def doubled(run, call_next):
        return 2 * await call_next()

    def body(n):
        if len(seen) < 3 * len(kinds):
            raise ValueError("not yet")
        return n

    work = declare(scheduler, is_async, body, retry=Retry(delay="1ms"))
    one = await run_to_end(scheduler, work, 21)
    assert (one.result, one.attempt) == (42, 2)


async def test_one_that_calls_nothing_answers_for_the_handler(scheduler):
    @scheduler.middleware
    async def closed(run, call_next):
        return "closed on Sundays"

    work = declare(scheduler, True, lambda n: 1 / 0)
    assert (await run_to_end(scheduler, work)).result == "closed on Sundays"


async def test_one_that_raises_fails_the_attempt(scheduler):
    @scheduler.middleware
    def closed(run, call_next):
        raise LookupError("no tenant")

    for is_async in (True, False):
        chosen = Scheduler("memory://")
        chosen.middleware(closed)
        one = await run_to_end(chosen, declare(chosen, is_async, lambda n: n, retry=1))
        assert "LookupError: no tenant" in one.error


@pytest.mark.parametrize("is_async", [True, False])
@pytest.mark.parametrize("kinds", [(True,), (False,), (True, False), (False, True)])
async def test_context_variables_reach_the_handler(scheduler, is_async, kinds):
    def add(value, kind):
        if kind:

            @scheduler.middleware
            async def around(run, call_next):
                VALUE.set(f"{VALUE.get()} {value}")
                return await call_next()
        else:

            @scheduler.middleware
            def around(run, call_next):
                VALUE.set(f"{VALUE.get()} {value}")
                return call_next()

    for number, kind in enumerate(kinds):
        add(number, kind)
    work = declare(scheduler, is_async, lambda n: VALUE.get())
    expected = " ".join(["unset", *map(str, range(len(kinds)))])
    assert (await run_to_end(scheduler, work)).result == expected


async def test_plain_middleware_runs_in_the_thread_of_a_plain_handler(scheduler):
    @scheduler.middleware
    def around(run, call_next):
        return [threading.get_ident(), call_next()]

    work = declare(scheduler, False, lambda n: threading.get_ident())
    outer, inner = (await run_to_end(scheduler, work)).result
    assert outer == inner != threading.get_ident()


async def test_plain_middleware_around_an_async_handler_leaves_the_loop_free(scheduler):
    """The handler waits for the event loop, which a middleware in it would block."""
    ended = []

    @scheduler.middleware
    def around(run, call_next):
        result = call_next()
        ended.append(threading.get_ident() != here)
        return result

    here = threading.get_ident()

    @scheduler.job()
    async def work() -> int:
        await asyncio.sleep(0)
        return threading.get_ident()

    assert (await run_to_end(scheduler, work)).result == here
    assert ended == [True]


@pytest.mark.parametrize("kinds", KINDS)
async def test_a_cancelled_handler_cleans_up_before_its_middleware(scheduler, kinds):
    seen: list[object] = []
    begun = asyncio.Event()
    add_middleware(scheduler, kinds, seen)

    @scheduler.job()
    async def work(run: Run) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            seen.append(("handler", bool(run.cancelled)))

    async with scheduler:
        execution = await work.trigger()
        await asyncio.wait_for(begun.wait(), DEADLINE)
        await scheduler.cancel(execution.id)
        one = await until(scheduler, execution)
    assert one.state is State.CANCELLED
    assert seen[len(kinds)] == ("handler", True)
    assert len(seen) == 2 * len(kinds) + 1


@pytest.mark.parametrize("kinds", KINDS)
async def test_a_plain_handler_is_asked_through_its_run(scheduler, kinds):
    seen: list[object] = []
    begun = threading.Event()
    add_middleware(scheduler, kinds, seen)

    @scheduler.job(timeout=Timeout(soft="50ms", hard="60s"), retry=1)
    def work(run: Run) -> str:
        begun.set()
        return "stopped" if run.cancelled.wait("60s") else "never asked"

    one = await run_to_end(scheduler, work)
    assert [each.outcome for each in one.attempts] == [OutcomeKind.SUCCEEDED]
    assert one.result == "stopped"
    assert len(seen) == 2 * len(kinds)


async def test_an_async_function_behind_a_plain_decorator_ends_within_its_middleware(scheduler):
    seen: list[object] = []
    add_middleware(scheduler, (False, True), seen)

    async def work() -> str:
        await asyncio.sleep(0)
        seen.append("handler")
        return "done"

    def plain():
        return work()

    scheduler.job(name="work")(plain)
    async with scheduler:
        one = await until(scheduler, await scheduler.trigger("work"))
    assert one.result == "done"
    assert seen[2] == "handler"


async def test_a_payload_that_does_not_fit_reaches_no_middleware(scheduler):
    seen: list[object] = []
    add_middleware(scheduler, (True,), seen)
    declare(scheduler, True, lambda n: n)
    async with scheduler:
        inside = scheduler._inside
        inside.executions.check = lambda job, payload: None
        one = await until(scheduler, await scheduler.trigger("work", {"n": "x"}))
    assert (one.state, seen) == (State.DEAD, [])


async def test_one_that_is_added_later_is_around_handlers_that_were_there(scheduler):
    work = declare(scheduler, True, lambda n: n)
    seen: list[object] = []
    add_middleware(scheduler, (True,), seen)
    await run_to_end(scheduler, work)
    assert len(seen) == 2


async def test_a_snooze_of_its_own_is_one(scheduler):
    @scheduler.middleware
    async def not_yet(run, call_next):
        if run.attempt == 1:
            run.snooze("1ms")
        return await call_next()

    work = declare(scheduler, True, lambda n: n)
    async with scheduler:
        one = await until(
            scheduler, await work.trigger(), lambda one: attempted(one) and one.result
        )
    assert [each.outcome for each in one.attempts] == ["snoozed", "succeeded"]


async def test_the_result_of_the_run_before_is_read_in_plain_middleware_too(scheduler):
    @scheduler.middleware
    def around(run, call_next):
        return [run.last_result.get(), call_next()]

    for is_async in (True, False):
        chosen = Scheduler("memory://")
        chosen.middleware(around)
        work = declare(chosen, is_async, lambda n: n)
        assert (await run_to_end(chosen, work)).result == [None, 1]


def nothing_taken():
    """Takes nothing."""


def generator(run, call_next):
    yield


@pytest.mark.parametrize("wrong", [nothing_taken, generator, None, "timing"])
def test_what_is_no_middleware_is_refused_with_an_example(scheduler, wrong):
    with pytest.raises(InvalidInput, match="return await call_next"):
        scheduler.middleware(wrong)


@pytest.mark.parametrize("is_async", [True, False])
async def test_steps_of_a_handler_and_of_its_plain_middleware_are_kept(scheduler, is_async):
    @scheduler.middleware
    def around(run, call_next):
        return [run.step("outer", lambda: run.attempt), call_next()]

    @scheduler.job(retry=Retry(delay="1ms"))
    async def in_the_loop(run: Run) -> int:
        done = await run.step("inner", lambda: run.attempt)
        if run.attempt == 1:
            raise ValueError("once more")
        return done

    @scheduler.job(retry=Retry(delay="1ms"))
    def in_a_thread(run: Run) -> int:
        done = run.step("inner", lambda: run.attempt)
        if run.attempt == 1:
            raise ValueError("once more")
        return done

    one = await run_to_end(scheduler, in_the_loop if is_async else in_a_thread)
    assert (one.result, one.attempt) == ([1, 1], 2)


@pytest.mark.parametrize("is_async", [True, False])
async def test_async_middleware_with_some_arguments_bound_is_async(scheduler, is_async):
    async def tagged(tag, run, call_next):
        return [tag, await call_next()]

    scheduler.middleware(partial(tagged, "tag"))
    one = await run_to_end(scheduler, declare(scheduler, is_async, str))
    assert (one.error, one.result) == (None, ["tag", "1"])


async def test_async_middleware_behind_a_plain_decorator_fails_and_holds_nothing_up(scheduler):
    async def around(run, call_next):
        return await call_next()

    @scheduler.middleware
    def decorated(run, call_next):
        return around(run, call_next)

    one = await run_to_end(scheduler, declare(scheduler, True, str, retry=1))
    assert one.state is State.DEAD
    assert "plain middleware called call_next() in the event loop" in one.error
