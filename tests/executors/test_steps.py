"""What a handler does once for all its attempts, in the loop, in a thread and in a process."""

import asyncio
import pickle
import threading
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from tests.executors import isolated
from tests.executors.running import run_to_end, until
from tickwell import OutcomeKind, Retry, Run, Scheduler, Settings, State
from tickwell.declared.internals import internals
from tickwell.domain.outcome import Outcome, decide
from tickwell.domain.step import MOST_STEPS, Step
from tickwell.errors import InvalidInput, InvalidPayload, NotRunning, StaleAttempt, StoreUnavailable
from tickwell.executors.step_writer import BATCH, StepWriter
from tickwell.testing import ManualClock

AGAIN = Retry(max_attempts=5, delay="1ms", jitter=0)


@pytest.fixture(params=["memory", "sqlite"])
def scheduler(request, tmp_path):
    url = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path}/jobs.db"
    return Scheduler(url, settings=Settings(beat="200ms"))


def nested(depth):
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@dataclass
class Receipt:
    number: str
    amount: Decimal


async def test_a_retried_attempt_goes_on_where_the_last_one_stopped(scheduler):
    done = []

    async def charge(order: int) -> Receipt:
        done.append("charge")
        return Receipt(f"r-{order}", Decimal("9.90"))

    def mail() -> None:
        done.append("mail")
        if done.count("mail") < 3:
            raise ConnectionError("no mail server")

    @scheduler.job(retry=AGAIN)
    async def order(run: Run) -> object:
        receipt = await run.step("charge", charge, 7)
        await run.step("mail", mail)
        return receipt

    one = await run_to_end(scheduler, order)
    assert one.state is State.SUCCEEDED
    assert done == ["charge", "mail", "mail", "mail"]
    # The first attempt has seen the same as those that read it.
    assert one.result == {"number": "r-7", "amount": "9.90"}
    steps = await scheduler.steps(one.id)
    assert [(step.name, step.attempt) for step in steps] == [("charge", 1), ("mail", 3)]
    assert steps[0].value == one.result
    assert isinstance(steps[0].done_at, datetime)


async def test_the_same_in_a_thread(scheduler):
    done = []

    def charge(order: int, *, cents: int) -> int:
        done.append((threading.current_thread().name, order))
        return cents

    @scheduler.job(retry=AGAIN)
    def order(run: Run) -> list[object]:
        cents = run.step("charge", charge, 7, cents=990)
        run.checkpoint(run.attempt)
        if run.attempt < 3:
            raise ConnectionError("no mail server")
        return [cents, run.last_checkpoint.get(), threading.current_thread().name]

    one = await run_to_end(scheduler, order)
    assert one.result[:2] == [990, 3]
    [(thread, number)] = done
    assert number == 7
    assert thread.startswith("tickwell-")


@pytest.mark.parametrize("function", [isolated.stepwise, isolated.stepwise_later])
async def test_the_same_in_a_process_of_its_own(function):
    one = await run_to_end(isolated.scheduler, function)
    expected = [1, {"at": 2}, 2] if function is isolated.stepwise else [1, 3, 1]
    assert one.result == expected
    assert [each.outcome for each in one.attempts] == [OutcomeKind.FAILED, OutcomeKind.SUCCEEDED]


async def test_steps_at_once_are_each_done_once(scheduler):
    done = []

    async def fetch(number: int) -> int:
        done.append(number)
        await asyncio.sleep(0)
        return number * number

    @scheduler.job(retry=AGAIN)
    async def gather(run: Run) -> list[int]:
        steps = (run.step(f"fetch-{number}", fetch, number) for number in range(2 * BATCH))
        found = await asyncio.gather(*steps)
        if run.attempt == 1:
            raise RuntimeError("once more")
        return found[-2:]

    one = await run_to_end(scheduler, gather)
    assert one.result == [(2 * BATCH - 2) ** 2, (2 * BATCH - 1) ** 2]
    assert sorted(done) == list(range(2 * BATCH))


async def test_a_checkpoint_is_what_the_next_attempt_begins_with(scheduler):
    @scheduler.job(retry=AGAIN)
    async def crawl(run: Run) -> list[int]:
        begin = await run.last_checkpoint or {"page": 0, "seen": []}
        page, seen = begin["page"], begin["seen"]
        while page < 9:
            page, seen = page + 1, [*seen, run.attempt]
            await run.checkpoint({"page": page, "seen": seen})
            if page % 3 == 0 and page < 9:
                raise TimeoutError("slow site")
        return seen

    one = await run_to_end(scheduler, crawl)
    assert one.result == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert await scheduler.steps(one.id) == []


async def test_a_revived_execution_goes_on_too(scheduler):
    done = []

    def charge() -> int:
        done.append("charge")
        return 3

    @scheduler.job(retry=Retry(max_attempts=1))
    async def order(run: Run) -> int:
        charged = await run.step("charge", charge)
        if run.attempt == 1:
            raise ConnectionError("no mail server")
        return charged

    async with scheduler:
        one = await until(scheduler, await order.trigger())
        assert one.state is State.DEAD
        await scheduler.revive(one.id)
        assert (await until(scheduler, one)).result == 3
    assert done == ["charge"]


async def test_a_step_that_fails_is_not_kept(scheduler):
    @scheduler.job(retry=Retry(max_attempts=1))
    async def order(run: Run) -> str:
        def fail() -> None:
            raise LookupError("no such order")

        with pytest.raises(LookupError):
            await run.step("charge", fail)
        return "seen"

    one = await run_to_end(scheduler, order)
    assert one.result == "seen"
    assert await scheduler.steps(one.id) == []


async def test_each_name_is_used_once_in_an_attempt(scheduler):
    @scheduler.job(retry=Retry(max_attempts=1))
    async def order(run: Run) -> list[str]:
        await run.step("charge", int)
        wrong: list[str] = []
        names: list[Any] = ["charge", "", "x" * 101, "a\0b", 7]
        for name in names:
            with pytest.raises(InvalidInput) as error:
                await run.step(name, int)
            wrong.append(str(error.value))
        return wrong

    one = await run_to_end(scheduler, order)
    assert "has a step 'charge' already" in one.result[0]
    assert all("is not a name of 1 to 100 characters" in text for text in one.result[1:])


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_step_that_failed_may_be_tried_again_in_the_same_attempt(scheduler, is_async):
    tries: list[str] = []

    def charge() -> str:
        tries.append("charge")
        if len(tries) == 1:
            raise ConnectionError
        return "receipt"

    async def charge_async() -> str:
        await asyncio.sleep(0)
        return charge()

    if is_async:

        @scheduler.job(name="order", retry=1)
        async def order(run: Run) -> object:
            with pytest.raises(ConnectionError):
                await run.step("charge", charge_async)
            return await run.step("charge", charge_async)
    else:

        @scheduler.job(name="order", retry=1)
        def order(run: Run) -> object:
            with pytest.raises(ConnectionError):
                run.step("charge", charge)
            return run.step("charge", charge)

    one = await run_to_end(scheduler, order)
    assert (one.result, tries) == ("receipt", ["charge"] * 2)


@pytest.mark.parametrize("is_async", [True, False])
async def test_middleware_that_calls_the_handler_again_finds_its_steps_done(scheduler, is_async):
    done: list[str] = []

    @scheduler.middleware
    async def twice(run, call_next):
        await run.step("outside", int)
        with pytest.raises(ConnectionError):
            await call_next()
        with pytest.raises(InvalidInput, match="has a step 'outside' already"):
            await run.step("outside", int)
        return await call_next()

    def charge() -> str:
        done.append("charge")
        return "receipt"

    def mail() -> None:
        done.append("mail")
        if done.count("mail") == 1:
            raise ConnectionError

    if is_async:

        @scheduler.job(name="order", retry=1)
        async def order(run: Run) -> object:
            receipt = await run.step("charge", charge)
            await run.step("mail", mail)
            return receipt
    else:

        @scheduler.job(name="order", retry=1)
        def order(run: Run) -> object:
            receipt = run.step("charge", charge)
            run.step("mail", mail)
            return receipt

    one = await run_to_end(scheduler, order)
    assert (one.error, one.result) == (None, "receipt")
    assert done == ["charge", "mail", "mail"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (object(), "which is not JSON"),
        (float("nan"), "which is not JSON"),
        ("x" * 64_000, "64,002 characters of JSON; 64,000 are kept"),
        (nested(101), "it is nested more than 100 deep"),
        (nested(900), "it is nested more than 100 deep"),
        ({(1, 2): 3}, "keys must be str"),
    ],
)
async def test_a_result_that_cannot_be_kept_fails_the_attempt(scheduler, value, words):
    @scheduler.job(retry=Retry(max_attempts=1))
    async def order(run: Run) -> None:
        await run.step("charge", lambda: value)

    one = await run_to_end(scheduler, order)
    assert one.state is State.DEAD
    assert words in one.error


async def test_an_execution_has_a_limit_of_steps(scheduler):
    @scheduler.job(retry=Retry(max_attempts=2, delay="1ms"))
    async def order(run: Run) -> int:
        # Those of earlier attempts count.
        names = [f"{run.attempt}-{number}" for number in range(MOST_STEPS - 1)]
        if run.attempt == 1:
            await asyncio.gather(*(run.step(name, int) for name in names))
            raise RuntimeError("once more")
        await run.checkpoint("one more")
        with pytest.raises(InvalidPayload, match="1,000 steps"):
            await run.step("too many", int)
        await run.checkpoint("in its place")
        return len(names)

    assert (await run_to_end(scheduler, order)).result == MOST_STEPS - 1


async def test_an_execution_has_a_limit_of_characters(scheduler):
    @scheduler.job(retry=Retry(max_attempts=1))
    async def order(run: Run) -> int:
        large = "x" * 60_000
        for number in range(33):
            await run.step(f"{number}", lambda: large)
        with pytest.raises(InvalidPayload, match="2,000,000 characters"):
            await run.step("too much", lambda: large)
        for _ in range(3):
            with pytest.raises(InvalidPayload, match="2,000,000 characters"):
                await run.checkpoint(large)
            await run.checkpoint("x" * 10_000)  # takes the place of the one before
        return 1

    assert (await run_to_end(scheduler, order)).result == 1


async def test_an_async_step_of_a_plain_handler_is_refused(scheduler):
    async def charge() -> None: ...

    @scheduler.job(retry=Retry(max_attempts=1))
    def order(run: Run) -> None:
        run.step("charge", charge)

    one = await run_to_end(scheduler, order)
    assert "step 'charge' is an async function in a plain handler" in one.error


async def test_a_thread_of_an_async_handler_is_told_who_awaits(scheduler):
    @scheduler.job(retry=Retry(max_attempts=1))
    async def order(run: Run) -> None:
        await asyncio.to_thread(run.step, "charge", int)

    one = await run_to_end(scheduler, order)
    assert NotRunning.__name__ in one.error


async def test_a_plain_handler_may_run_a_loop_of_its_own(scheduler):
    @scheduler.job(retry=AGAIN)
    def order(run: Run) -> list[object]:
        async def inside() -> list[object]:
            await run.checkpoint(run.attempt)
            return [await run.step("charge", lambda: run.attempt), await run.last_checkpoint]

        found = asyncio.run(inside())
        if run.attempt == 1:
            raise RuntimeError("once more")
        return found

    assert (await run_to_end(scheduler, order)).result == [1, 2]


class Sluggish:
    """A store that is away for a while, then takes what it is given but from one attempt."""

    def __init__(self, outages=0):
        self.outages = outages
        self.batches = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.asked = asyncio.Event()

    async def write_steps(self, steps):
        self.asked.set()
        await self.gate.wait()
        if self.outages:
            self.outages -= 1
            raise StoreUnavailable("away")
        self.batches.append(list(steps))
        return [step for step in steps if step.attempt == 13]

    async def list_steps(self, project, id):
        return []

    async def answer_step(self, project, id, name, value, now):
        return False


def a_step(name, attempt=1):
    return Step(execution="e", attempt=attempt, name=name, value=None, at=0)


async def test_what_comes_during_a_write_goes_into_the_next():
    store = Sluggish()
    writer = StepWriter(store, ManualClock())
    store.gate.clear()
    first = asyncio.create_task(writer.write(a_step("first")))
    await store.asked.wait()
    others = [asyncio.create_task(writer.write(a_step(f"{n}"))) for n in range(5)]
    await asyncio.sleep(0)
    store.gate.set()
    await asyncio.gather(first, *others)
    assert [len(batch) for batch in store.batches] == [1, 5]


async def test_a_stale_attempt_is_told_and_the_others_go_on():
    writer = StepWriter(Sluggish(), ManualClock())
    good, stale = await asyncio.gather(
        writer.write(a_step("a")), writer.write(a_step("b", attempt=13)), return_exceptions=True
    )
    assert good is None
    assert isinstance(stale, StaleAttempt)
    assert "attempt 13 of execution e is over, so step 'b' was not stored" in str(stale)


async def test_a_step_that_the_store_cannot_keep_fails_no_other_of_its_batch():
    class Picky(Sluggish):
        async def write_steps(self, steps):
            if any(step.name == "odd" for step in steps):
                raise ValueError("no such value")
            return await super().write_steps(steps)

    writer = StepWriter(Picky(), ManualClock())
    named = [a_step("a"), a_step("odd"), a_step("b", attempt=13)]
    good, odd, stale = await asyncio.gather(*map(writer.write, named), return_exceptions=True)
    assert good is None
    assert isinstance(odd, ValueError)
    assert isinstance(stale, StaleAttempt)


async def test_a_store_that_is_away_is_waited_for():
    store, clock = Sluggish(outages=2), ManualClock()
    writer = StepWriter(store, clock)
    writing = asyncio.create_task(writer.write(a_step("a")))
    while not writing.done():
        await clock.advance(1)
    assert store.batches == [[a_step("a")]]


async def test_a_writer_that_stops_tells_who_waits():
    store = Sluggish()
    store.gate.clear()
    writer = StepWriter(store, ManualClock())
    writing = asyncio.create_task(writer.write(a_step("a")))
    await store.asked.wait()
    await writer.close()
    with pytest.raises(NotRunning):
        await writing


def test_a_stale_attempt_can_be_told_in_another_process():
    error = pickle.loads(pickle.dumps(StaleAttempt("e", 2, "charge")))
    assert (error.execution, error.attempt, error.step) == ("e", 2, "charge")
    assert isinstance(error, StaleAttempt)


async def test_a_worker_that_was_taken_for_lost_keeps_no_step(scheduler):
    runs: asyncio.Queue[Any] = asyncio.Queue()
    go_on = asyncio.Event()

    @scheduler.job(retry=Retry(max_losses=1))
    async def order(run: Run) -> None:
        await run.step("charge", lambda: f"by {run.attempt}")
        runs.put_nowait(run)
        await go_on.wait()
        try:
            await run.step("mail", lambda: "by 1")
        except StaleAttempt as error:
            runs.put_nowait(error)
            raise

    async with scheduler:
        triggered = await order.trigger()
        run = await runs.get()
        now = run._claim.deadline
        lost = decide(run._claim, Outcome(kind=OutcomeKind.LOST), now)
        assert not (await internals(scheduler).store.finish([lost], now)).refused
        go_on.set()
        error = await runs.get()
        assert (error.execution, error.attempt, error.step) == (triggered.id, 1, "mail")
        one = await until(scheduler, triggered)
        steps = await scheduler.steps(one.id)
    assert one.state is State.DEAD
    assert [(each.name, each.value) for each in steps] == [("charge", "by 1")]
