"""The process that holds a store to the contract: pytest, without its plugins and its output.

    python -m tickwell.testing.verify.contract    reads `ContractOrders` on standard input

Says one line of JSON for each test: [topic, test, what was wrong or null].
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import pytest

from tickwell.testing.verify.agent import end_with_input
from tickwell.testing.verify.orders import ContractOrders, maker
from tickwell.testing.verify.places import place_for

TESTS = Path(__file__).with_name("contract_tests.py")


class Plugin:
    """The fixtures of the contract, and a loop for its coroutines."""

    def __init__(self, orders: ContractOrders, runner: asyncio.Runner, out: TextIO) -> None:
        self._place = place_for(orders.url, orders.tag)
        self._make = maker(orders.make)
        self._run = runner.run
        self._out = out

    @pytest.fixture
    def store(self) -> Iterator[Any]:
        """Opened and empty."""
        self._run(self._place.empty())
        yield from self._opened()

    @pytest.fixture
    def another_store(self, store: Any) -> Iterator[Any]:
        """A second process would come in by the same URL; memory is one store to one process."""
        if self._place.url.startswith("memory:"):
            yield store
        else:
            yield from self._opened()

    @pytest.fixture
    def corrupt(self, store: Any) -> Any:
        """Makes a stored definition unreadable."""
        return lambda job: self._place.corrupt(store, job)

    def _opened(self) -> Iterator[Any]:
        store = self._make(self._place.url)
        self._run(store.open())
        try:
            yield store
        finally:
            self._run(store.close())

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """Run a coroutine."""
        if not inspect.iscoroutinefunction(pyfuncitem.obj):
            return None
        names = pyfuncitem._fixtureinfo.argnames  # noqa: SLF001 - as other plugins do
        self._run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Say how it went: a test that failed before or after its call has failed as well."""
        if report.when == "call" or report.failed:
            topic, test = report.nodeid.split("::")[-2:]
            why = None if report.passed else _reason(report)
            self._out.write(json.dumps([topic.removeprefix("Test"), test, why]) + "\n")
            self._out.flush()


def _reason(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    return " ".join(str(crash.message if crash else report.longrepr).split())[:300]


def main() -> int:
    """Run the topics that are asked for."""
    orders = ContractOrders(**json.loads(sys.stdin.readline()))
    end_with_input()
    out = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    chosen = [f"{TESTS}::Test{topic}" for topic in orders.topics or ()] or [str(TESTS)]
    quiet = ["-p", "no:terminal", "-p", "no:cacheprovider", "--noconftest"]
    quiet += ["-c", os.devnull, "--rootdir", str(TESTS.parent), "--import-mode=importlib"]
    # Nothing of the user's own: another plugin would run coroutines in a loop of its own.
    os.environ |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    with asyncio.Runner() as runner:
        code = pytest.main([*chosen, *quiet], plugins=[Plugin(orders, runner, out)])
    return int(code)


if __name__ == "__main__":
    ended = main()
    # The thread holds standard input, which the interpreter would wait for.
    os._exit(ended)
