"""A `Run` for those who call their handlers."""

import asyncio
from datetime import UTC, datetime

import pytest

from tickwell import Run, Scheduler
from tickwell.errors import InvalidInput
from tickwell.testing import FakeRun, Snoozed

scheduler = Scheduler("memory://")
NOON = datetime(2026, 3, 29, 12, tzinfo=UTC)


@scheduler.job()
async def count(run: Run, step: int = 1) -> int:
    if run.attempt == 1:
        run.snooze("5m")
    run.progress(0.5, "half")
    return (await run.last_result or 0) + step


@scheduler.job()
def wait(run: Run) -> str:
    return "stopped" if run.cancelled.wait("0s") else f"{run.last_result.get()} for {run.job}"


async def test_an_async_handler_is_called_with_it():
    run = FakeRun(attempt=2, last_result=40)
    assert await count(run, step=2) == 42
    assert run.told == [(0.5, "half")]


async def test_a_snooze_is_raised():
    with pytest.raises(Snoozed) as caught:
        await count(FakeRun())
    assert caught.value.delay == 300_000


def test_a_plain_handler_is_asked_to_stop():
    run = FakeRun(job="wait", last_result="tea")
    assert wait(run) == "tea for wait"
    run.cancel()
    assert wait(run) == "stopped"


async def test_a_plain_handler_reads_inside_of_a_loop_too():
    assert wait(FakeRun(last_result=7)) == "7 for job"


def test_it_is_what_the_test_says():
    run = FakeRun(id="a", job="b", attempt=3, fire_time=NOON, payload={"c": 1})
    assert (run.id, run.job, run.attempt, run.fire_time, run.payload) == (
        *("a", "b", 3, NOON, {"c": 1}),
    )
    with pytest.raises(InvalidInput, match="no time zone"):
        FakeRun(fire_time=datetime(2026, 1, 1))  # noqa: DTZ001
    with pytest.raises(InvalidInput, match="is not between 0 and 1"):
        run.progress(2)


@scheduler.job()
async def order(run: Run) -> list[object]:
    begin = await run.last_checkpoint
    await run.checkpoint("charged")
    steps = (run.step(name, lambda: run.attempt) for name in ("charge", "mail"))
    return [begin, *await asyncio.gather(*steps)]


@scheduler.job()
def order_plainly(run: Run) -> list[object]:
    begin = run.last_checkpoint.get()
    run.checkpoint("charged")
    return [begin, *[run.step(name, lambda: run.attempt) for name in ("charge", "mail")]]


async def test_steps_are_called_once():
    for run in (FakeRun(), FakeRun(steps={"charge": 1}, attempt=2, last_checkpoint=7)):
        expected = [1, 1] if run.attempt == 1 else [1, 2]
        begin = run.saved_checkpoint
        assert await order(run) == [begin, *expected]
        assert run.steps == dict(zip(("charge", "mail"), expected, strict=True))
        assert run.saved_checkpoint == "charged"


def test_steps_of_a_plain_handler_are_called_once():
    assert order_plainly(FakeRun(steps={"charge": 1}, attempt=2)) == [None, 1, 2]


async def test_steps_of_a_plain_handler_need_no_await_inside_of_a_loop():
    assert order_plainly(FakeRun(steps={"charge": 1}, attempt=2)) == [None, 1, 2]


@scheduler.job()
async def refund(run: Run) -> object:
    url = await run.answer_url("approval")
    try:
        return [url, await run.wait_for("approval", expires="3d")]
    except TimeoutError:
        return "late"


async def test_answers_are_those_of_the_test():
    url = "https://example.com/api/v1/answers/approval"
    assert await refund(FakeRun(answers={"approval": False})) == [url, False]
    assert await refund(FakeRun(answers={"approval": TimeoutError()})) == "late"
    with pytest.raises(Snoozed) as waiting:
        await refund(FakeRun())
    assert waiting.value.delay == 3 * 86_400_000
