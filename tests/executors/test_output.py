"""What a handler prints and logs is kept with its attempt, and nobody else's."""

import asyncio
import logging
import sys
import threading

import pytest

from tests.executors.running import run_to_end, until
from tickwell import GiveUp, Retry, Run, Scheduler
from tickwell.domain.note import MOST_CHARACTERS, MOST_LINES
from tickwell.executors.output import Output
from tickwell.executors.words import ERROR_LIMIT, describe


@pytest.fixture(params=["memory", "sqlite"])
def scheduler(request, tmp_path):
    return Scheduler("memory://" if request.param == "memory" else f"sqlite:///{tmp_path}/jobs.db")


async def lines_of(scheduler, execution):
    """By attempt; read after a stop, which has written everything."""
    await scheduler.open()
    found = {each.attempt: list(each.lines) for each in await scheduler.output(execution.id)}
    await scheduler.stop()
    return found


async def test_prints_and_logs_of_each_attempt(scheduler, capsys):
    @scheduler.job(retry=Retry(max_attempts=2, delay="1ms", jitter=0))
    async def talk(run: Run) -> None:
        print("attempt", run.attempt)  # noqa: T201
        logging.getLogger("mine").warning("%d per cent", 50)
        run.log.info("through run.log")
        raise OSError

    @scheduler.job()
    def talk_in_a_thread() -> None:
        print("one\ntwo", end="")  # noqa: T201

    if scheduler.store_url.startswith("memory"):
        async with scheduler:
            one = await until(scheduler, await talk.trigger())
            two = await until(scheduler, await talk_in_a_thread.trigger())
            told = {each.attempt: list(each.lines) for each in await scheduler.output(one.id)}
            in_thread = await scheduler.output(two.id)
    else:
        one = await run_to_end(scheduler, talk)
        told = await lines_of(scheduler, one)
        two = await run_to_end(scheduler, talk_in_a_thread)
        await scheduler.open()
        in_thread = await scheduler.output(two.id)
        await scheduler.stop()
    assert told == {
        number: [f"attempt {number}", "WARNING 50 per cent", "INFO through run.log"]
        for number in (1, 2)
    }
    assert [each.lines for each in in_thread] == [("one", "two")]
    assert "attempt 1\n" in capsys.readouterr().out  # it is heard, not taken away


async def test_attempts_side_by_side_do_not_mix():
    scheduler, together = Scheduler("memory://"), asyncio.Barrier(3)

    @scheduler.job()
    async def talk(name: str) -> None:
        for number in range(3):
            await together.wait()
            print(name, number)  # noqa: T201

    async with scheduler:
        runs = {name: await talk.trigger(name) for name in "abc"}
        for name, execution in runs.items():
            await until(scheduler, execution)
            [output] = await scheduler.output(execution.id)
            assert output.lines == (f"{name} 0", f"{name} 1", f"{name} 2")


async def test_what_looks_like_a_secret_is_not_kept(capsys):
    scheduler = Scheduler("memory://")

    @scheduler.job(retry=1)
    async def leak(run: Run) -> None:
        print("connecting to postgresql://app:hunter2@db/jobs")  # noqa: T201
        logging.getLogger("mine").warning("sent Authorization: Bearer %s", "hunter2.x")
        raise OSError("postgresql://app:hunter2@db/jobs does not answer")

    @scheduler.job(retry=3)
    def give_up(run: Run) -> None:
        run.progress(0.5, "logging in with password=hunter2")
        raise GiveUp("password=hunter2 was refused")

    async with scheduler:
        one = await until(scheduler, await leak.trigger())
        [output] = await scheduler.output(one.id)
        two = await until(scheduler, await give_up.trigger())
        three = await scheduler.get_execution(two.id)
    assert output.lines == (
        "connecting to postgresql://app:…@db/jobs",
        "WARNING sent Authorization: …",
    )
    assert one.error.endswith("OSError: postgresql://app:…@db/jobs does not answer")
    kept = repr((one, two, three, output))
    assert "hunter2" not in kept
    assert "password=… was refused" in three.explanation
    assert "app:hunter2@db" in capsys.readouterr().out  # what it prints goes there as it is


def test_half_a_secret_is_not_kept_of_a_long_error():
    kept = describe(ValueError(f"password={'k' * 100} {'x' * (ERROR_LIMIT - 51)}"))
    assert (kept.endswith("xxx"), "k" in kept) == (True, False)


async def test_one_that_is_quiet_costs_no_record():
    scheduler = Scheduler("memory://")

    @scheduler.job()
    async def quiet() -> None: ...

    async with scheduler:
        one = await until(scheduler, await quiet.trigger())
        assert await scheduler.output(one.id) == []


async def test_a_stop_leaves_standard_output_and_logging_as_they_were():
    stdout, factory = sys.stdout, logging.getLogRecordFactory()
    scheduler = Scheduler("memory://")

    @scheduler.job()
    async def quiet() -> None: ...

    await run_to_end(scheduler, quiet)
    assert sys.stdout is stdout
    assert logging.getLogRecordFactory() is factory


def test_the_last_lines_are_kept_and_the_others_counted():
    output = Output()
    for number in range(MOST_LINES + 5):
        output.add(f"line {number}")
    lines = output.close()
    assert lines[0] == (5, "line 5")
    assert len(lines) == MOST_LINES


def test_no_more_characters_are_kept_than_allowed():
    output = Output()
    for _ in range(100):
        output.write("x" * 1000 + "\n")
    output.write("y" * 10 * MOST_CHARACTERS)
    assert sum(len(text) for _, text in output.close()) <= MOST_CHARACTERS


def test_threads_that_print_at_once_lose_count_of_nothing():
    """One that did made every print of the attempt raise."""
    output, before = Output(), sys.getswitchinterval()
    start = threading.Barrier(8)

    def write():
        start.wait()
        for _ in range(20_000):
            output.add("x" * 70)

    threads = [threading.Thread(target=write) for _ in range(8)]
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    lines = output.snapshot()
    assert [number for number, _ in lines] == list(range(8 * 20_000 - MOST_LINES, 8 * 20_000))
    assert output._characters == sum(len(text) for _, text in lines)
