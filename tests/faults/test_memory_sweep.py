"""The scenario of the kill sweep on the specification: a lost connection at every store call."""

import pytest

from tests.faults.checker import check
from tests.processes import journal
from tests.processes.faulty_store import Counted
from tests.processes.scenario import Scenario, history_of
from tests.processes.sweep import RESETS, Cut
from tickwell.stores.memory import MemoryStore


async def work(calls, *faults):
    store = MemoryStore()
    await Scenario(store, calls, "victim", *faults).run()
    assert check(await history_of(store, calls)) == []
    return sorted((line.execution, line.attempt) for line in journal.read(calls))


@pytest.mark.parametrize("where", RESETS)
async def test_a_lost_connection_costs_nobody_an_attempt(tmp_path, where):
    counted = Counted()
    clean = await work(tmp_path / "clean", counted)
    for nth in range(1, sum(counted.calls.values()) + 1):
        cut = Cut(where, nth)
        assert await work(tmp_path / str(nth), cut) == clean, f"{where} call {nth}, {cut.method}"
