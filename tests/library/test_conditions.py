"""Conditions through the public face: a fire that its `only_if` denies is a skip with a reason."""

import asyncio

import pytest

from tests.executors import isolated_around
from tickwell import Call, Depends, Every, OnDemand, Reason, Retry, Run, Scheduler, State
from tickwell.errors import InvalidJob
from tickwell.executors import condition


async def slots(tickwell, name):
    """The executions of a job, oldest first."""
    return sorted(await tickwell.scheduler.executions(job=name), key=lambda one: one.id)


async def test_a_fire_runs_only_if_the_condition_says_yes(tickwell):
    ran = []
    mails: list[str] = []

    def has_mail() -> bool:
        return bool(mails)

    @tickwell.job(Every("1m"), only_if=has_mail)
    async def answer(run: Run) -> None:
        ran.append(run.fire_time)
        mails.clear()

    await tickwell.travel("2m30s")
    assert ran == []
    found = await slots(tickwell, "answer")
    assert [(one.state, one.reason) for one in found] == [(State.SKIPPED, Reason.CONDITION)] * 2
    first = await tickwell.scheduler.get_execution(found[0].id)
    assert first.explanation == "its only_if condition answered no"
    assert (len(first.attempts), first.started_at) == (0, None)
    mails.append("hello")
    await tickwell.travel("2m")
    assert len(ran) == 1
    states = [one.state for one in await slots(tickwell, "answer")]
    assert states == [State.SKIPPED, State.SKIPPED, State.SUCCEEDED, State.SKIPPED]


async def test_a_requested_run_is_not_asked_about(tickwell):
    def never() -> bool:
        return False

    @tickwell.job(Every("1h"), only_if=never)
    async def poll() -> str:
        return "ran"

    await poll.trigger()
    await tickwell.travel("1s")
    [one] = await slots(tickwell, "poll")
    assert one.result == "ran"


async def test_it_gets_what_it_names_of_the_payload_and_its_dependencies(tickwell):
    asked = []

    async def session():
        yield "session"

    async def is_wanted(customer: int, db: str = Depends(session)) -> bool:
        asked.append((customer, db))
        return customer == 7

    for customer in (7, 8):
        tickwell.job(
            Every("1m"), name=f"of-{customer}", only_if=is_wanted,
            payload={"customer": customer, "other": 1},
        )(lambda customer, other: other)  # fmt: skip
    await tickwell.travel("1m")
    assert sorted(asked) == [(7, "session"), (8, "session")]
    assert (await slots(tickwell, "of-7"))[0].state is State.SUCCEEDED
    assert (await slots(tickwell, "of-8"))[0].reason is Reason.CONDITION


async def test_middleware_is_around_attempts_and_not_around_conditions(tickwell):
    seen = []

    @tickwell.scheduler.middleware
    async def envelope(run, call_next):
        seen.append(run.job)
        return {"result": await call_next()}

    async def session():
        yield True

    async def is_wanted(db: bool = Depends(session)) -> bool:
        return db

    @tickwell.job(Every("1m"), only_if=is_wanted)
    async def sync() -> int:
        return 7

    await tickwell.travel("1m")
    [slot] = await slots(tickwell, "sync")
    assert (slot.state, seen) == (State.SUCCEEDED, ["sync"])


async def test_a_condition_in_a_process_of_its_own_has_no_middleware_either(tickwell):
    tickwell.use(isolated_around.ASKED)
    await tickwell.travel("1h")
    for name in ("plainly", "asynchronously"):
        [slot] = await slots(tickwell, name)
        assert (slot.state, slot.result) == (State.SUCCEEDED, {"answer": "ran"})


async def test_a_condition_that_raises_is_a_failed_attempt_and_asked_again(tickwell):
    asks, ran = [], []

    async def is_ready() -> bool:
        asks.append(tickwell.now)
        if len(asks) < 3:
            raise ConnectionError("not reachable")
        return True

    @tickwell.job(Every("1h"), only_if=is_ready, retry=Retry(max_attempts=5, delay="1s"))
    async def work() -> None:
        ran.append(tickwell.now)

    await tickwell.travel("1h5m")
    assert (len(asks), len(ran)) == (3, 1)
    [one] = await slots(tickwell, "work")
    one = await tickwell.scheduler.get_execution(one.id)
    assert [each.outcome for each in one.attempts] == ["failed", "failed", "succeeded"]
    assert one.attempts[0].started_at is None
    assert "its only_if condition: " in one.attempts[0].error
    assert "not reachable" in one.attempts[0].error


async def test_one_that_always_fails_ends_as_a_dead_letter(tickwell):
    async def broken() -> bool:
        raise ConnectionError

    @tickwell.job(Every("1h"), only_if=broken, retry=2, delivery="at_most_once")
    async def work() -> None:
        raise AssertionError

    await tickwell.travel("1h5m")
    [one] = await slots(tickwell, "work")
    assert (one.state, one.reason) == (State.DEAD, Reason.OUT_OF_ATTEMPTS)


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_yes_after_the_time_to_answer_is_none(tickwell, monkeypatch, is_async):
    monkeypatch.setattr(condition, "LONGEST", 0.01)
    ran = []

    async def late_async() -> bool:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return True
        return False

    def late(run: Run) -> bool:
        return run.cancelled.wait()

    @tickwell.job(Every("1h"), only_if=late_async if is_async else late, retry=1)
    async def work() -> None:
        ran.append("ran")

    await tickwell.travel("1h")
    [one] = await slots(tickwell, "work")
    one = await tickwell.scheduler.get_execution(one.id)
    assert (ran, one.state) == ([], State.DEAD)
    assert [(each.outcome, each.error) for each in one.attempts] == [
        ("timed_out", "its only_if condition: it did not answer within 0.01 s")
    ]


@pytest.mark.parametrize("result", [None, 1, "no"])
async def test_what_is_neither_true_nor_false_is_a_mistake_that_shows(tickwell, result):
    async def forgot():
        return result

    @tickwell.job(Every("1h"), only_if=forgot)
    async def work() -> None:
        raise AssertionError

    await tickwell.travel("1h")
    [one] = await slots(tickwell, "work")
    assert (one.state, one.reason, one.attempt) == (State.DEAD, Reason.NOT_RETRYABLE, 1)
    assert one.error == (f"its only_if condition answered {result!r}; it must return True or False")


async def test_what_has_begun_is_not_asked_about_again(tickwell):
    asks, ran = [], []

    def once() -> bool:
        asks.append(1)
        return len(asks) == 1

    @tickwell.job(Every("1h"), only_if=once, retry=Retry(max_attempts=3, delay="1s"))
    async def work() -> None:
        ran.append(1)
        if len(ran) < 3:
            raise ConnectionError

    await tickwell.travel("1h1m")
    assert (len(asks), len(ran)) == (1, 3)


async def test_a_run_that_waits_for_an_answer_goes_on_without_being_asked(tickwell):
    asks = []

    def once() -> bool:
        asks.append(1)
        return len(asks) == 1

    @tickwell.job(Every("1h", max_runs=1), only_if=once)
    async def approve(run: Run) -> str:
        return await run.wait_for("approval", expires="3d")

    await tickwell.travel("1h")
    [one] = await slots(tickwell, "approve")
    await tickwell.scheduler.answer(one.id, "approval", "granted")
    await tickwell.travel("1m")
    [one] = await slots(tickwell, "approve")
    assert (one.result, asks) == ("granted", [1])


async def test_a_skipped_fire_is_no_run_and_leaves_failures_in_a_row(tickwell):
    answers = iter([False, False, True])

    def sometimes() -> bool:
        return next(answers)

    @tickwell.job(Every("1m", max_runs=1), only_if=sometimes)
    async def work() -> None: ...

    await tickwell.travel("10m")
    states = [one.state for one in await slots(tickwell, "work")]
    assert sorted(states) == [State.SKIPPED, State.SKIPPED, State.SUCCEEDED]


async def test_a_declared_job_may_be_a_condition_by_its_function_or_its_name(tickwell):
    @tickwell.job(OnDemand())
    async def is_open() -> bool:
        return False

    tickwell.job(Every("1m"), name="one", only_if=is_open)(lambda: None)
    tickwell.job(Every("1m"), name="two", only_if="is_open")(lambda: None)
    await tickwell.travel("1m")
    for name in ("one", "two"):
        assert [one.reason for one in await slots(tickwell, name)] == [Reason.CONDITION]
        assert (await tickwell.scheduler.get_job(name)).only_if == "is_open"


@pytest.mark.parametrize(
    ("condition", "problem"),
    [
        ("", "only_if: '' is not a text"),
        (7, "only_if: 7 is not a text"),
        ("x" * 256, "only_if: is too long"),
        ("https://example.com/{{secret.key}}", "only_if: a URL here takes no placeholders"),
        ("https://", "only_if: "),
        (lambda: True, "only_if: .* has no name of its own"),
    ],
)
def test_what_cannot_be_asked_is_refused_where_it_is_declared(condition, problem):
    with pytest.raises(InvalidJob, match=problem):
        Scheduler("memory://").job(Every("1m"), name="x", only_if=condition)(lambda: None)


async def test_a_credential_in_the_url_is_refused():
    async with Scheduler("memory://") as scheduler:
        with pytest.raises(InvalidJob, match="has a credential in its query"):
            await scheduler.add_job(
                "x", Every("1h"), Call("f"), only_if="https://example.com/?token=s3cret"
            )
