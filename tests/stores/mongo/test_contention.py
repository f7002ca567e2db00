"""Several processes' worth of everything at once: gates, counts and ends agree afterwards."""

from collections import Counter

import pytest

from tests.stores.crowd import everything_at_once, let_all_end, made
from tickwell.stores.mongo.codec import FIRST_ENDED, QUEUED, RUNNING
from tickwell.testing.contract.scene import Scene


@pytest.fixture
def scenes(store, other):
    other.patience = 3.0  # as in production: nobody has died
    return Scene(store), Scene(other)


@pytest.mark.parametrize("seed", range(3))
async def test_everything_at_once_leaves_everything_exact(scenes, owner, seed):
    await everything_at_once(scenes, made(), seed)
    jobs, rows = list(owner["jobs"].find()), list(owner["executions"].find())
    held = {gate["_id"]: sorted(gate["holders"]) for gate in owner["gates"].find()}
    holding: dict = {}
    for row in rows:
        if "permit" in row:
            assert row["state"] in {QUEUED, RUNNING}
            holding.setdefault(row["gate"], []).append(row["permit"])
    assert {gate: held[gate] for gate in held if held[gate]} == {
        gate: sorted(permits) for gate, permits in holding.items()
    }
    holders = sorted(job["holder"] for job in jobs if "holder" in job)
    assert holders == sorted(row["_id"] for row in rows if "holds_job" in row)
    assert all(row["state"] < FIRST_ENDED for row in rows if "holds_job" in row)
    waiting = Counter(row["job"] for row in rows if row.get("waits") == "job")
    assert {job["_id"]: job["waiting"] for job in jobs if "waiting" in job} == waiting
    there = Counter(row["job"] for row in rows)
    assert {job["_id"]: job["made"] for job in jobs if "made" in job} == there
    assert not [job for job in jobs if "outbox" in job]
    assert not [row for row in rows if "frozen" in row]
    assert [
        gate for gate, permits in holding.items() if gate == "default/k" and len(permits) > 2
    ] == []


async def test_all_of_it_ends_when_people_let_it(scenes, owner):
    jobs = made()
    await everything_at_once(scenes, jobs, 7)
    await let_all_end(scenes[0], jobs)
    assert [gate for gate in owner["gates"].find() if gate["holders"]] == []
    assert list(owner["jobs"].find({"holder": {"$exists": True}})) == []
