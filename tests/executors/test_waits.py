"""What a handler waits for from outside, without using capacity meanwhile."""

import asyncio
from typing import Any

import pytest

from tests.executors import isolated
from tests.executors.running import run_to_end, until
from tickwell import Concurrency, Retry, Run, Scheduler, Settings, State
from tickwell.errors import InvalidInput, NotFound, WrongState
from tickwell.executors.run import Waiting, awaited_in, snoozed_for

ONCE = Retry(max_attempts=1)


@pytest.fixture(params=["memory", "sqlite"])
def scheduler(request, tmp_path):
    url = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path}/jobs.db"
    settings = Settings(beat="200ms", capacity=1, threads=1, public_url="https://jobs.example.com/")
    return Scheduler(url, settings=settings)


def waits(one):
    return one.state is State.WAITING and len(one.attempts) > 0


async def test_an_answer_lets_it_go_on(scheduler):
    asked = []

    @scheduler.job(retry=ONCE)
    async def refund(run: Run) -> list[object]:
        await run.step("ask", lambda: asked.append(run.attempt))
        answer = await run.wait_for("approval", expires="3d")
        # Again it is the same.
        return [answer, await run.wait_for("approval"), run.attempt]

    async with scheduler:
        one = await until(scheduler, await refund.trigger(), waits)
        [wait] = await scheduler.waits(one.id)
        assert (wait.name, wait.is_open, wait.answer) == ("approval", True, None)
        assert await scheduler.steps(one.id) != []
        await scheduler.answer(one.id, "approval", {"ok": True}, by="ada")
        one = await until(scheduler, one)
        [wait] = await scheduler.waits(one.id)
    assert one.result == [{"ok": True}, {"ok": True}, 2]
    assert (wait.is_open, wait.answer, wait.by) == (False, {"ok": True}, "ada")
    assert asked == [1]
    assert one.charged == 1


async def test_the_same_in_a_thread(scheduler):
    @scheduler.job(retry=ONCE)
    def refund(run: Run) -> object:
        return run.wait_for("approval", expires="3d")

    async with scheduler:
        one = await until(scheduler, await refund.trigger(), waits)
        await scheduler.answer(one.id, "approval", "yes")
        assert (await until(scheduler, one)).result == "yes"


@pytest.mark.parametrize("function", [isolated.ask, isolated.ask_later])
async def test_the_same_in_a_process_of_its_own(function):
    async with isolated.scheduler as scheduler:
        one = await until(scheduler, await function.trigger(), waits)
        await scheduler.answer(one.id, "approval", "yes")
        assert (await until(scheduler, one)).result == "yes"


async def test_what_waits_uses_no_capacity_and_no_permit(scheduler):
    """A parent waits for its children, which have the only capacity and the only permit."""
    children = []

    @scheduler.job(retry=ONCE, concurrency=Concurrency("family"))
    async def child(run: Run, parent: str, number: int) -> None:
        children.append(number)
        await scheduler.answer(parent, f"child-{number}", number * number)

    @scheduler.job(retry=ONCE, concurrency=Concurrency("family"))
    async def parent(run: Run) -> list[int]:
        async def begin() -> None:
            for number in range(3):
                await child.trigger(parent=run.id, number=number)

        for number in range(3):
            await run.ask(f"child-{number}")  # before any of them can answer
        await run.step("children", begin)
        return [await run.wait_for(f"child-{number}") for number in range(3)]

    one = await run_to_end(scheduler, parent)
    assert one.result == [0, 1, 4]
    assert sorted(children) == [0, 1, 2]


async def test_an_answer_that_comes_first_is_not_waited_for(scheduler):
    @scheduler.job(retry=ONCE)
    async def refund(run: Run) -> list[object]:
        await run.answer_url("approval")
        await scheduler.answer(run.id, "approval", 7)
        return [await run.wait_for("approval"), run.attempt]

    assert (await run_to_end(scheduler, refund)).result == [7, 1]


async def test_only_what_is_asked_is_answered_and_once(scheduler):
    @scheduler.job(retry=ONCE)
    async def refund(run: Run) -> object:
        return await run.wait_for("approval")

    async with scheduler:
        one = await until(scheduler, await refund.trigger(), waits)
        with pytest.raises(NotFound):
            await scheduler.answer(one.id, "other", 1)
        with pytest.raises(NotFound):
            await scheduler.answer("no-such", "approval", 1)
        await scheduler.answer(one.id, "approval", 1)
        with pytest.raises(WrongState, match="question 'approval' is answered"):
            await scheduler.answer(one.id, "approval", 2)
        assert (await until(scheduler, one)).result == 1


async def test_what_has_ended_takes_no_answer(scheduler):
    @scheduler.job(retry=ONCE)
    async def refund(run: Run) -> object:
        return await run.wait_for("approval")

    async with scheduler:
        one = await until(scheduler, await refund.trigger(), waits)
        await scheduler.cancel(one.id)
        with pytest.raises(WrongState, match="its execution has ended"):
            await scheduler.answer(one.id, "approval", 1)


async def test_without_an_answer_it_resumes_with_a_timeout(tickwell):
    @tickwell.job(retry=ONCE)
    async def refund(run: Run) -> str:
        try:
            return str(await run.wait_for("approval", expires="3d"))
        except TimeoutError as error:
            if run.attempt == 2:
                run.snooze("1h")  # and the next attempt sees the same
            return f"{type(error).__name__}: {error}, {run.attempt}"

    one = await refund.trigger()
    await tickwell.travel("2d")
    assert (await tickwell.scheduler.get_execution(one.id)).state is State.WAITING
    await tickwell.travel("1d")
    [wait] = await tickwell.scheduler.waits(one.id)
    assert (wait.is_open, wait.is_expired) == (False, True)
    with pytest.raises(WrongState, match="is expired"):
        await tickwell.scheduler.answer(one.id, "approval", 1)
    await tickwell.travel("2h")
    one = await tickwell.scheduler.get_execution(one.id)
    assert one.result == "AnswerTimeout: no answer to 'approval' came in time, 3"


async def test_no_answer_is_taken_when_its_time_is_over(tickwell):
    scheduler = Scheduler("memory://", settings=Settings(public_url="https://jobs.example.com"))

    @scheduler.job(retry=ONCE)
    async def refund(run: Run) -> None:
        await run.answer_url("approval", expires="1h")
        await run.wait_for("other", expires="1d")

    tickwell.use(scheduler)
    one = await refund.trigger()
    await tickwell.travel("2h")
    with pytest.raises(WrongState, match="is expired"):
        await scheduler.answer(one.id, "approval", 1)


async def test_a_job_that_is_delivered_at_most_once_cannot_wait(scheduler):
    @scheduler.job(delivery="at_most_once")
    async def refund(run: Run) -> object:
        return await run.wait_for("approval")

    one = await run_to_end(scheduler, refund)
    assert (one.state, "at_least_once" in one.error) == (State.DEAD, True)


async def test_names_of_questions_are_checked(scheduler):
    @scheduler.job(retry=ONCE)
    async def refund(run: Run) -> int:
        names: list[Any] = ["", "wait:x", "x" * 101, 7]
        for name in names:
            with pytest.raises(InvalidInput, match="is not a name"):
                run.wait_for(name)
        return len(names)

    assert (await run_to_end(scheduler, refund)).result == 4


async def test_an_address_needs_a_public_url(tmp_path):
    scheduler = Scheduler(f"sqlite:///{tmp_path}/jobs.db")

    @scheduler.job(retry=ONCE)
    async def refund(run: Run) -> object:
        return await run.answer_url("approval")

    one = await run_to_end(scheduler, refund)
    assert "public_url: is not set, so an answer has no address" in one.error
    assert await scheduler.waits(one.id) == []


async def test_several_are_waited_for_until_the_first_answer(scheduler):
    @scheduler.job(retry=ONCE)
    async def refund(run: Run) -> list[object]:
        async with asyncio.TaskGroup() as group:
            found = [group.create_task(_wait(run, name)) for name in ("one", "two")]
        return [each.result() for each in found]

    async def _wait(run: Run, name: str) -> object:
        return await run.wait_for(name)

    async with scheduler:
        one = await refund.trigger()
        for attempt, name in enumerate(("one", "two"), 1):
            one = await until(
                scheduler, one, lambda one, n=attempt: waits(one) and len(one.attempts) == n
            )
            await scheduler.answer(one.id, name, name)
        one = await until(scheduler, one)
    assert one.result == ["one", "two"]


def test_of_several_waits_the_first_to_expire_counts():
    group = BaseExceptionGroup("", [Waiting(5, ("wait:a",)), Waiting(3, ("wait:b",))])
    assert (snoozed_for(group), awaited_in(group)) == (3, ("wait:a", "wait:b"))
    mixed = BaseExceptionGroup("", [Waiting(5, ("wait:a",)), ValueError()])
    assert snoozed_for(mixed) is None
