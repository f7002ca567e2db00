"""The blocking face of the scheduler has every call by name, with the same parameters."""

import inspect

from tickwell.declared.blocking import Blocking
from tickwell.declared.function import BlockingFunction, JobFunction
from tickwell.declared.named import Named


def calls(of: type, *, only_async: bool) -> dict[str, inspect.Signature]:
    found = {
        name: each
        for name, each in vars(of).items()
        if not name.startswith("_")
        and (inspect.iscoroutinefunction(each) or (not only_async and inspect.isfunction(each)))
    }
    return {name: inspect.signature(each) for name, each in found.items()}


def test_every_call_by_name_has_its_blocking_twin():
    awaited, blocking = calls(Named, only_async=True), calls(Blocking, only_async=False)
    del awaited["open"]  # a blocking call opens the store by itself
    del blocking["call"], blocking["stop"]  # the way in, and the end of the thread
    assert list(awaited) != []
    assert blocking == awaited


def test_a_declared_function_is_triggered_alike_with_and_without_a_loop():
    awaited = calls(JobFunction, only_async=True)
    assert calls(BlockingFunction, only_async=False) == awaited
