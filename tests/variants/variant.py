"""A deliberately broken Tickwell, and what must catch it."""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.faults.postgres.statements import cut_everywhere
from tests.simulation.seeds import ALONE, SWARM, system_of
from tests.variants.contract import keeps_contract
from tickwell.testing.simulation import Fault, Scenario, scenario_of, simulate

ROOT = Path(__file__).parent.parent.parent
REPORT = Path(__file__).parent / "REPORT.md"

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
        command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.variants.plugin"]
        command += ["-x", "-p", "no:cacheprovider", "--timeout=20", f"tests/{self.test}"]
        environment = os.environ | {"VARIANT": variant.name, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)
        # 1: tests ran and some failed; any other code means that nothing was tried.
        return self.test if done.returncode == 1 else None


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
