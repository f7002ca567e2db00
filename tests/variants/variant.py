"""A deliberately broken Tickwell, and what must catch it."""

import asyncio
import multiprocessing
import os
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from multiprocessing.context import ForkServerContext
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer

import pytest

from tests.faults.postgres.statements import cut_everywhere
from tests.servers.private import stop_all
from tests.simulation.seeds import ALONE, SWARM, system_of
from tests.variants.contract import keeps_contract
from tickwell.testing.simulation import Fault, Scenario, scenario_of, simulate

ROOT = Path(__file__).parent.parent.parent
REPORT = Path(__file__).parent / "REPORT.md"

#: How a process ends whose test failed; 1 is how Python ends one whose code does not work.
CAUGHT = 101
#: Seconds after which a test is taken to hang.
HANGS = 20.0
OPTIONS = ["-q", "-x", "-p", "tests.variants.plugin", "-p", "no:cacheprovider", "-p", "no:xdist"]
# Assertions of modules that were imported before pytest began are shown without their values.
OPTIONS += ["--timeout=0", "-W", "ignore::pytest.PytestAssertRewriteWarning"]

_SINGLE = "simulation/test_single_faults.py::test_every_promise_is_kept_under"
_SWARM = "simulation/test_swarm.py::test_every_promise_is_kept"
_CUT = "faults/postgres/test_statements.py::test_a_fire_is_done_whole_or_not_at_all"


def caught_last(name: str) -> str | None:
    """The test that caught a variant when the report was written: the first one to try."""
    rows = (line.strip("| ").split(" | ") for line in REPORT.read_text("utf-8").splitlines())
    return next((row[-1] for row in rows if row[0] == name), None)


@dataclass(frozen=True, kw_only=True)
class Simulated:
    """Seeds that tests/simulation runs on sound code as well."""

    #: What must be found: caught for the right reason, or not caught.
    violation: str
    #: This fault alone is tried before the swarm.
    fault: Fault | None = None

    def hunt(self, variant: "Variant") -> str | None:
        known = caught_last(variant.name)
        with pytest.MonkeyPatch.context() as patches:
            variant.patch(patches)
            for test, seed, scenario in sorted(self._tests(), key=lambda each: each[0] != known):
                if self._catches(seed, scenario):
                    return test
        return None

    def _tests(self) -> Iterator[tuple[str, int, Scenario]]:
        if self.fault is not None:
            alone = frozenset({self.fault})
            for seed in ALONE:
                yield f"{_SINGLE}[{seed}-{self.fault}]", seed, scenario_of(seed, faults=alone)
        for seed in SWARM:
            yield f"{_SWARM}[{seed}]", seed, system_of(seed)

    def _catches(self, seed: int, scenario: Scenario) -> bool:
        try:
            simulate(seed, scenario)
        except AssertionError as violation:
            return bool(re.search(self.violation, str(violation).split("\n")[0]))
        return False


@dataclass(frozen=True, kw_only=True)
class Tested:
    """A test of its own, run in a process of its own."""

    test: str

    def hunt(self, variant: "Variant") -> str | None:
        process = _forks().Process(target=run_broken, args=(variant.name, self.test))
        process.start()
        process.join()
        assert process.pid is not None
        with suppress(ProcessLookupError):  # what a test that hung has started
            os.killpg(process.pid, signal.SIGKILL)
        # Any other code means that it passed, or that nothing was tried.
        return self.test if process.exitcode == CAUGHT else None


@cache
def _forks() -> ForkServerContext:
    """Starts processes that have everything imported: that took most of the time of a hunt."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.variants.plugin", "pytest_asyncio", "hypothesis"])
    return context


def run_broken(variant: str, test: str) -> None:
    """Run a test on broken code, in silence, and end the process with the verdict of pytest."""
    os.setpgid(0, 0)
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(silence, stream)
    os.chdir(ROOT)
    # Of the session that started this process: another test would be taken for one of its own.
    for name in [name for name in os.environ if name.startswith("PYTEST_")]:
        del os.environ[name]
    # For the processes that the test starts.
    os.environ |= {"VARIANT": variant, "PYTHONPATH": str(ROOT)}
    # A test that hangs has caught it. By no exception: a loop gives it to whichever task it hits.
    Timer(HANGS, os._exit, [CAUGHT]).start()
    pytest.main([*OPTIONS, f"tests/{test}"], plugins=[FirstFailure()])
    stop_all()
    os._exit(0)


class FirstFailure:
    """Ends the process: on broken code, what a test does afterwards to tidy up may never end."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            stop_all()
            os._exit(CAUGHT)


@dataclass(frozen=True, kw_only=True)
class OnPostgres:
    """A test of the store contract, on PostgreSQL."""

    contract: str

    def hunt(self, variant: "Variant") -> str | None:
        with pytest.MonkeyPatch.context() as patches:
            variant.patch(patches)
            try:
                asyncio.run(keeps_contract(self.contract))
            except AssertionError:
                return f"contract/test_postgres.py::TestPostgres::{self.contract}"
        return None


@dataclass(frozen=True, kw_only=True)
class CutOnPostgres:
    """A connection to PostgreSQL that is lost after each statement of a call."""

    method: str

    def hunt(self, variant: "Variant") -> str | None:
        with pytest.MonkeyPatch.context() as patches, TemporaryDirectory() as folder:
            variant.patch(patches)
            try:
                asyncio.run(cut_everywhere(Path(folder), {self.method}))
            except AssertionError:
                return _CUT
        return None


@dataclass(frozen=True, kw_only=True)
class Variant:
    name: str
    #: What comes of it, in a sentence.
    flaw: str
    #: Patches production code.
    patch: Callable[[pytest.MonkeyPatch], None]
    prey: Simulated | Tested | OnPostgres | CutOnPostgres

    def hunt(self) -> str | None:
        """Set what must catch it on the broken code; answer what did."""
        return self.prey.hunt(self)
