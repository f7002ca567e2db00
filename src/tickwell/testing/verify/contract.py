"""The process that runs the contract on a store: pytest, without its plugins and its output.

    python -m tickwell.testing.verify.contract    reads `ContractOrders` on standard input

Prints one line of JSON for each test: [topic, test, reason of the failure or null].
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
from tickwell.testing.verify.scratch import scratch_for

TESTS = Path(__file__).with_name("contract_tests.py")


class Plugin:
    """The fixtures of the contract, and a loop for its coroutines."""

    def __init__(self, orders: ContractOrders, runner: asyncio.Runner, out: TextIO) -> None:
        self._scratch = scratch_for(orders.url, orders.tag)
        self._make = maker(orders.make)
        self._run = runner.run
        self._out = out

    @pytest.fixture
    def store(self) -> Iterator[Any]:
        """Opened and empty."""
        self._run(self._scratch.empty())
        yield from self._opened()

    @pytest.fixture
    def another_store(self, store: Any) -> Iterator[Any]:
        """A second handle, as another process would have; a store in memory has only one."""
        if self._scratch.url.startswith("memory:"):
            yield store
        else:
            yield from self._opened()

    @pytest.fixture
    def corrupt(self, store: Any) -> Any:
        """Makes a stored definition unreadable."""
        return lambda job: self._scratch.corrupt(store, job)

    def _opened(self) -> Iterator[Any]:
        store = self._make(self._scratch.url)
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
        """Print the result: a test whose set-up or tear-down failed has failed as well."""
        if report.when == "call" or report.failed:
            topic, test = report.nodeid.split("::")[-2:]
            why = None if report.passed else _reason(report)
            self._out.write(json.dumps([topic.removeprefix("Test"), test, why]) + "\n")
            self._out.flush()


def _reason(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    return " ".join(str(crash.message if crash else report.longrepr).split())[:300]


def main() -> int:
    """Run the requested topics."""
    orders = ContractOrders(**json.loads(sys.stdin.readline()))
    end_with_input()
    out = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    chosen = [f"{TESTS}::Test{topic}" for topic in orders.topics or ()] or [str(TESTS)]
    quiet = ["-p", "no:terminal", "-p", "no:cacheprovider", "--noconftest"]
    quiet += ["-c", os.devnull, "--rootdir", str(TESTS.parent), "--import-mode=importlib"]
    # Without the user's plugins: they might run coroutines in another loop.
    os.environ |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    with asyncio.Runner() as runner:
        code = pytest.main([*chosen, *quiet], plugins=[Plugin(orders, runner, out)])
    return int(code)


if __name__ == "__main__":
    ended = main()
    # A thread reads standard input, and the interpreter would wait for it.
    os._exit(ended)
