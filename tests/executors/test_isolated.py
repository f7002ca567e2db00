"""Handlers in processes of their own: whatever they do, the worker and its neighbours live."""

import os
import signal
from typing import Any

import pytest

from tests.executors import isolated, isolated_around
from tests.executors.running import run_to_end, until
from tickwell import Scheduler, State
from tickwell.declared.internals import internals
from tickwell.domain.execution import OutcomeKind
from tickwell.errors import InvalidJob, InvalidPayload


@pytest.fixture
def scheduler():
    internals(isolated.scheduler).move_to("memory://")
    return isolated.scheduler


async def test_arguments_results_and_prints_cross_over(scheduler):
    async with scheduler:
        first = await until(scheduler, await isolated.add.trigger(isolated.Pair(2, 3)))
        again = await until(scheduler, await isolated.add.trigger(isolated.Pair(2, 4)))
        outputs = await scheduler.output(first.id)
    assert (first.result["sum"], again.result["sum"]) == (5, 6)
    assert first.result["pid"] == again.result["pid"] != os.getpid()
    assert [each.lines for each in outputs] == [("adding",)]


async def test_an_async_handler_has_a_loop_there(scheduler):
    assert (await run_to_end(scheduler, isolated.add_later, 2, b=3)).result == 5


async def test_what_it_raises_is_kept_with_its_traceback(scheduler):
    one = await run_to_end(scheduler, isolated.explode)
    assert one.state is State.DEAD
    assert one.error.endswith("LookupError: the cause")
    assert "in explode" in one.error


@pytest.mark.parametrize(
    ("handler", "error"),
    [
        (isolated.leave, "SystemExit: 3"),
        (isolated.die, "its process was killed by SIGKILL during the attempt"),
        (isolated.crash, "its process was killed by SIGSEGV during the attempt"),
    ],
)
async def test_one_that_kills_its_process_dies_alone(scheduler, handler, error):
    async with scheduler:
        bad = await handler.trigger()
        good = await isolated.neighbour.trigger()
        dead = await until(scheduler, bad)
        assert (await until(scheduler, good)).attempt == 1
        outputs = await scheduler.output(bad.id)
    assert dead.state is State.DEAD
    assert dead.error.endswith(error)
    assert {each.outcome for each in dead.attempts} == {OutcomeKind.FAILED}
    assert [each.lines for each in outputs] == [("last words",)] * (handler is isolated.die)


@pytest.mark.parametrize(
    ("handler", "error"),
    [
        (isolated.swell, "MemoryError"),
        (isolated.multiply, "RuntimeError: can't start new thread"),
        (isolated.swell_in_thread, "MemoryError"),
    ],
)
async def test_a_bomb_takes_nothing_from_its_neighbours(scheduler, handler, error):
    async with scheduler:
        bad = await handler.trigger()
        beside = [await isolated.neighbour.trigger() for _ in range(20)]
        dead = await until(scheduler, bad)
        assert {(await until(scheduler, each)).attempt for each in beside} == {1}
        # In a process that has room again, whoever had it before.
        after = await until(scheduler, await isolated.threads.trigger())
    assert dead.state is State.DEAD
    assert dead.error.splitlines()[-1] == error
    assert {each.outcome for each in dead.attempts} == {OutcomeKind.FAILED}
    assert (after.state, after.attempt, after.result) == (State.SUCCEEDED, 1, 3)


async def test_a_copy_of_the_process_does_not_answer_for_it(scheduler):
    async with scheduler:
        forked = await until(scheduler, await isolated.fork.trigger())
        after = await until(scheduler, await isolated.add.trigger(isolated.Pair(2, 3)))
    assert forked.result == "the original"
    assert after.result["sum"] == 5


async def test_a_process_is_gone_though_what_it_started_holds_its_line(scheduler, tmp_path):
    note = tmp_path / "pid"
    dead = await run_to_end(scheduler, isolated.die_and_leave, str(note))
    os.kill(int(note.read_text("ascii")), signal.SIGKILL)
    assert dead.error == "its process was killed by SIGKILL during the attempt"


async def test_one_that_never_ends_is_killed_and_its_slot_is_free(scheduler):
    async with scheduler:
        one = await until(scheduler, await isolated.spin.trigger())
        assert one.attempts[0].outcome is OutcomeKind.TIMED_OUT
        hard = isolated.SHORT.hard / 1000
        assert one.error.startswith(f"timed out: it did not stop within {hard:g} s")
        assert (await until(scheduler, await isolated.add.trigger(isolated.Pair(1, 1)))).result
        engine: Any = internals(scheduler).engine
        children = engine.executor._executors
        executor = next(one for one in children.values() if hasattr(one, "children"))
        assert len(executor.children._all) == 1


async def test_a_soft_timeout_asks_first(scheduler):
    async with scheduler:
        # A process that runs already: what is timed is the handler, not the start of Python.
        await until(scheduler, await isolated.add.trigger(isolated.Pair(1, 1)))
        one = await until(scheduler, await isolated.polite.trigger())
        assert (one.state, one.result) == (State.SUCCEEDED, "stopped")
        two = await until(scheduler, await isolated.polite_later.trigger())
        assert two.attempts[0].outcome is OutcomeKind.TIMED_OUT


async def test_it_can_tell_its_progress_and_read_the_last_result(scheduler):
    async with scheduler:
        first = await until(scheduler, await isolated.tell.trigger())
        assert first.result == [1, None]
        second = await until(scheduler, await isolated.tell.trigger())
        assert second.result == [1, [1, None]]
        progress = await scheduler.progress(first.id)
        assert progress is not None
        assert (progress.attempt, progress.fraction, progress.message) == (1, 0.5, "half")
        assert [each.lines for each in await scheduler.output(first.id)] == [("INFO half done",)]


async def test_it_can_snooze(scheduler):
    one = await run_to_end(scheduler, isolated.nap)
    assert one.result == "rested"
    assert [each.outcome for each in one.attempts] == ["snoozed", "succeeded"]


async def test_arguments_are_checked_before_a_process_is_asked(scheduler):
    async with scheduler:
        with pytest.raises(InvalidPayload, match=r"payload\.pair\.b"):
            await scheduler.trigger("add", {"pair": {"a": 1, "b": "2"}})


def test_what_no_other_process_can_import_is_refused():
    scheduler = Scheduler("memory://")

    def local() -> None: ...

    with pytest.raises(InvalidJob, match="at the top of a module"):
        scheduler.job(isolation="process")(local)
    with pytest.raises(InvalidJob, match="isolation: unknown value 'thread'"):
        scheduler.job(isolation="thread")(isolated.neighbour)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("handler", "closed"),
    [
        (isolated_around.plain, "closed"),
        (isolated_around.Work, "closed"),
        (isolated_around.in_a_loop, "closed async 1"),
        (isolated_around.in_a_thread, "closed async 1"),
    ],
)
async def test_middleware_and_dependencies_live_in_its_process(handler, closed):
    is_plain = closed == "closed"
    scheduler = isolated_around.PLAIN if is_plain else isolated_around.ASYNC
    internals(scheduler).move_to("memory://")
    async with scheduler:
        one = await until(scheduler, await handler.trigger(7))
        outputs = await scheduler.output(one.id)
    n, pid = one.result["inner"]
    assert (n, pid) == (7, one.result["outer"])
    assert pid != os.getpid()
    assert [each.lines for each in outputs] == [(closed,)]
