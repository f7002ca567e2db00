"""What a handler can do with its `Run`, in the loop and in a thread."""

import asyncio
import itertools
import threading

import pytest

from tests.executors.running import DEADLINE, attempted, run_to_end, until
from tickwell import Retry, Run, Scheduler, Settings, State, Timeout
from tickwell.domain.execution import OutcomeKind
from tickwell.errors import InvalidInput, NotRunning
from tickwell.executors.run import Snoozed, snoozed_for


@pytest.fixture(params=["memory", "sqlite"])
def scheduler(request, tmp_path):
    url = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path}/jobs.db"
    return Scheduler(url, settings=Settings(beat="200ms"))


async def test_a_snooze_costs_no_attempt_of_the_budget(scheduler):
    @scheduler.job(retry=Retry(max_attempts=1))
    async def later(run: Run) -> int:
        if run.attempt < 3:
            run.snooze("1ms")
        return run.attempt

    @scheduler.job(retry=Retry(max_attempts=1))
    def later_in_a_thread(run: Run) -> int:
        if run.attempt < 3:
            run.snooze("1ms")
        return run.attempt

    for function in (later, later_in_a_thread):
        one = await run_to_end(scheduler, function)
        assert (one.state, one.result, one.charged) == (State.SUCCEEDED, 3, 1)
        assert [each.outcome for each in one.attempts] == ["snoozed", "snoozed", "succeeded"]


async def test_a_handler_may_poll_for_as_long_as_its_job_allows(scheduler):
    @scheduler.job(retry=Retry(max_attempts=1, max_snoozes=25))
    async def poll(run: Run) -> int:
        if run.attempt < 26:
            run.snooze("1ms")
        return run.attempt

    one = await run_to_end(scheduler, poll)
    assert (one.state, one.result, one.charged) == (State.SUCCEEDED, 26, 1)


async def test_a_traceback_begins_in_the_handler(scheduler):
    @scheduler.job(retry=Retry(max_attempts=1))
    async def fails() -> None:
        raise RuntimeError("the disk is full")

    @scheduler.job(retry=Retry(max_attempts=1))
    def fails_in_a_thread() -> None:
        raise RuntimeError("the disk is full")

    for function in (fails, fails_in_a_thread):
        lines = (await run_to_end(scheduler, function)).error.splitlines()
        assert [line for line in lines if line.startswith("  File ")] == [lines[1]]
        assert __file__ in lines[1]
        assert lines[-1] == "RuntimeError: the disk is full"


async def test_no_except_exception_swallows_a_snooze(scheduler):
    @scheduler.job()
    async def careful(run: Run) -> str:
        try:
            if run.attempt == 1:
                run.snooze("1ms")
        except Exception:  # noqa: BLE001
            return "swallowed"
        return "rested"

    assert (await run_to_end(scheduler, careful)).result == "rested"


async def test_a_snooze_in_a_group_of_tasks_is_a_snooze(scheduler):
    async def nap(run: Run) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.sleep(0))
            run.snooze("1ms")

    @scheduler.job(retry=Retry(max_attempts=1))
    async def grouped(run: Run) -> str:
        if run.attempt == 1:
            await nap(run)
        return "rested"

    @scheduler.job(retry=Retry(max_attempts=1))
    def grouped_in_a_thread(run: Run) -> str:
        if run.attempt == 1:
            asyncio.run(nap(run))
        return "rested"

    for function in (grouped, grouped_in_a_thread):
        assert (await run_to_end(scheduler, function)).result == "rested"


def test_a_snooze_beside_an_error_is_none():
    naps, error = [Snoozed(5), Snoozed(7)], ValueError()
    assert snoozed_for(BaseExceptionGroup("", naps)) == 7
    assert snoozed_for(BaseExceptionGroup("", [*naps, BaseExceptionGroup("", naps)])) == 7
    assert snoozed_for(BaseExceptionGroup("", [*naps, error])) is None
    assert snoozed_for(error) is None


async def test_progress_is_seen_by_others_while_the_attempt_runs(scheduler):
    told, go_on = asyncio.Event(), asyncio.Event()

    @scheduler.job()
    async def copy(run: Run) -> None:
        for number in range(1000):
            run.progress(number / 2000)
        run.progress(0.5, "half of the files")
        told.set()
        await go_on.wait()

    async with scheduler, asyncio.timeout(DEADLINE):
        execution = await copy.trigger()
        await told.wait()
        progress = None
        while progress is None:  # written by a task of its own, which tells nobody
            await asyncio.sleep(0.01)
            progress = await scheduler.progress(execution.id)
        go_on.set()
        assert (progress.attempt, progress.fraction) == (1, 0.5)
        assert progress.message == "half of the files"
        assert await scheduler.progress("nobody") is None


async def test_progress_beyond_the_end_is_refused(scheduler):
    @scheduler.job(retry=Retry(max_attempts=1))
    async def boast(run: Run) -> None:
        run.progress(110)

    assert "progress: 110 is not between 0 and 1" in (await run_to_end(scheduler, boast)).error
    with pytest.raises(InvalidInput):
        Run(None, None).progress(-1)  # type: ignore[arg-type]


async def test_the_last_result_is_that_of_the_newest_success(scheduler):
    @scheduler.job(retry=Retry(max_attempts=1))
    async def count(run: Run, *, fail: bool = False) -> int:
        if fail:
            raise ValueError
        return (await run.last_result or 0) + 1

    @scheduler.job()
    def double(run: Run) -> int:
        return (run.last_result.get() or 1) * 2

    async with scheduler:
        for expected in (1, 2):
            assert (await until(scheduler, await count.trigger())).result == expected
            await asyncio.sleep(0.002)  # which is newer is told by the millisecond
        await until(scheduler, await count.trigger(fail=True))
        assert (await until(scheduler, await count.trigger())).result == 3
        for expected in (2, 4):
            assert (await until(scheduler, await double.trigger())).result == expected
            await asyncio.sleep(0.002)


async def test_an_async_handler_is_told_to_await_the_last_result(scheduler):
    @scheduler.job(retry=Retry(max_attempts=1))
    async def wrong(run: Run) -> None:
        run.last_result.get()

    one = await run_to_end(scheduler, wrong)
    assert NotRunning.__name__ in one.error
    assert "await run.last_result" in one.error


async def test_a_soft_timeout_cancels_an_async_handler_and_flags_a_plain_one(scheduler):
    seen = []
    timeout, once = Timeout(soft="100ms", hard="1m40s"), Retry(max_attempts=1)

    @scheduler.job(timeout=timeout, retry=once)
    async def waits(run: Run) -> None:
        try:
            await run.cancelled
        finally:
            seen.append(bool(run.cancelled))

    @scheduler.job(timeout=timeout, retry=once)
    def looks(run: Run) -> None:
        seen.append(run.cancelled.wait("100s"))
        raise RuntimeError("stopped")

    one = await run_to_end(scheduler, waits)
    assert one.attempts[0].outcome is OutcomeKind.TIMED_OUT
    await run_to_end(scheduler, looks)
    assert seen == [True, True]


async def test_an_execution_does_not_run_twice_at_once_beside_its_abandoned_thread(scheduler):
    let_go, begun = threading.Event(), []

    @scheduler.job(
        timeout=Timeout(soft="500ms", hard="1s"), retry=Retry(max_attempts=2, delay="1ms", jitter=0)
    )
    def hangs(run: Run) -> None:
        begun.append(run.attempt)
        let_go.wait(DEADLINE)

    async with scheduler:
        execution = await hangs.trigger()
        first = await until(scheduler, execution, attempted)
        assert first.attempts[0].error == (
            "timed out: it did not stop within 1 s, and takes capacity until it ends"
        )
        second = await until(scheduler, execution, lambda one: len(one.attempts) > 1)
        assert second.attempts[1].outcome is OutcomeKind.SNOOZED
        assert "an earlier attempt is still running" in second.attempts[1].error
        assert begun == [1]
        let_go.set()
        await until(scheduler, execution, lambda one: one.attempts[-1].number > 2)
        assert len(begun) > 1


async def test_a_slot_rests_after_an_attempt(tmp_path):
    settings = Settings(capacity=1, rest="300ms")
    scheduler = Scheduler("memory://", settings=settings)
    times = []

    @scheduler.job()
    async def note() -> None:
        times.append(asyncio.get_running_loop().time())

    async with scheduler:
        for execution in [await note.trigger() for _ in range(3)]:
            await until(scheduler, execution)
    pauses = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert min(pauses) >= 0.29
