"""Several processes' worth of everything at once: gates, counts and ends agree afterwards."""

import asyncio
from collections import Counter

import pytest

from tests.stores.crowd import everything_at_once, let_all_end, made
from tickwell.stores.mongo import MongoStore
from tickwell.stores.mongo.codec import FIRST_ENDED, QUEUED, RUNNING
from tickwell.testing.contract.builders import T0
from tickwell.testing.contract.scene import Scene

#: Processes that sweep all the time.
SWEEPERS = 2
#: Ended, and not noted that its job's gate is left.
NOTED = {"holds_job": True, "state": {"$gte": FIRST_ENDED}}


@pytest.fixture
def scenes(store, other):
    other.sweeper.patience = 3.0  # as in production: nobody has died
    return Scene(store), Scene(other)


@pytest.mark.parametrize("seed", range(2))
async def test_everything_at_once_leaves_everything_exact(scenes, other, owner, seed):
    await everything_at_once(scenes, made(), seed)
    await is_exact(other, owner)


async def test_a_sweep_that_has_no_patience_costs_the_others_repetitions_only(
    scenes, other, place, owner
):
    """It takes all that is under way to be left behind, all the time."""
    at_work = asyncio.ensure_future(everything_at_once(scenes, made(), 2))

    async def sweep():
        hasty = MongoStore.from_url(place)
        hasty.sweeper.patience = 0.0
        await hasty.open()
        try:
            while not at_work.done():
                await hasty.orphans(T0, 1)
            await hasty.orphans(T0, 1)
        finally:
            await hasty.close()

    await asyncio.gather(*(sweep() for _ in range(SWEEPERS)), at_work)
    await is_exact(other, owner)


async def is_exact(store, owner):
    """Whoever holds, waits or was made is counted as such; nothing is left to be done."""
    agree(owner)
    # One that was frozen when it left its job's gate still has the note of it; a sweep sees that.
    store.sweeper.patience = 0.0
    await store.orphans(T0, 1)
    agree(owner)
    assert owner["executions"].count_documents(NOTED) == 0


def agree(owner):
    """Jobs, gates and those that are live."""
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
    live = [row for row in rows if row["state"] < FIRST_ENDED]
    assert holders == sorted(row["_id"] for row in live if "holds_job" in row)
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
