"""The blocking face of the scheduler has every call about jobs and runs, alike."""

import inspect
from collections.abc import Callable
from typing import Any

from tickwell import Scheduler
from tickwell.declared.blocking import Blocking, BlockingCall
from tickwell.declared.function import BlockingFunction, JobFunction

#: `serve` blocks as `scheduler.run()`, which makes an event loop of its own.
OTHERWISE = {"serve"}
#: Blocking calls that no awaited one has: the way in.
OF_THREADS = {"call"}


def calls(of: type, chosen: Callable[[object], bool]) -> dict[str, inspect.Signature]:
    found = {name: each for name, each in inspect.getmembers(of) if not name.startswith("_")}
    return {name: signature(each) for name, each in found.items() if chosen(each)}


def signature(call: Any) -> inspect.Signature:
    derived = isinstance(call, BlockingCall)
    return call.__signature__ if derived else inspect.signature(call)


def test_every_awaited_call_has_its_blocking_twin():
    awaited = calls(Scheduler, inspect.iscoroutinefunction)
    blocking = calls(Blocking, lambda each: isinstance(each, BlockingCall) or callable(each))
    assert set(awaited) - OTHERWISE == set(blocking) - OF_THREADS
    for name in set(awaited) - OTHERWISE:
        assert blocking[name] == awaited[name], name


def test_a_declared_function_is_triggered_alike_with_and_without_a_loop():
    awaited = calls(JobFunction, inspect.iscoroutinefunction)
    assert calls(BlockingFunction, inspect.isfunction) == awaited


def test_what_is_not_awaited_needs_no_twin_and_is_named_here():
    """Calls that wait for nothing are the same with and without a loop."""
    found = calls(Scheduler, lambda each: callable(each) and not inspect.iscoroutinefunction(each))
    of_declaring = {"job", "declare", "middleware", "on", "subscribe"}
    of_running = {"run", "start_in_background", "lifespan", "asgi", "after_fork"}
    assert set(found) == {*of_declaring, *of_running, "health", "metrics"}
