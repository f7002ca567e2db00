"""Several processes' worth of everything at once: gates, counts and ends agree afterwards."""

import asyncio
import random
from collections import Counter

import pytest

from tests.stores.postgres.test_contention import HANDS, hand, made
from tickwell.domain.change import edit, pause, resume
from tickwell.domain.execution import ENDED, OutcomeKind, State
from tickwell.domain.policy import SECOND
from tickwell.domain.trigger import OnDemand
from tickwell.stores.mongo.codec import FIRST_ENDED, QUEUED, RUNNING
from tickwell.testing.contract.builders import T0, a_job
from tickwell.testing.contract.scene import Scene


@pytest.fixture
def scenes(store, other):
    other.patience = 3.0  # as in production: nobody has died
    return Scene(store), Scene(other)


async def everything(scenes, jobs, seed):
    chance = random.Random(seed)
    await scenes[0].add(*jobs)
    await asyncio.gather(
        *(hand(scenes[n % 2], n, jobs, random.Random(chance.random())) for n in range(HANDS))
    )


@pytest.mark.parametrize("seed", range(3))
async def test_everything_at_once_leaves_everything_exact(scenes, owner, seed):
    await everything(scenes, made(), seed)
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
    await everything(scenes, jobs, 7)
    now, scene = T0 + 100 * SECOND, scenes[0]
    for job in jobs:
        await scene.change(job, pause("ann", "enough"), now)
        await scene.change(job, resume(), now)
        await scene.change(job, edit(a_job(job.name, trigger=OnDemand())), now)
    for worker in [f"w{n}" for n in range(HANDS)]:
        beat = (await scene.beat(worker, now=now)).beat
        assert await scene.store.declare_lost(worker, beat, now)
    for _ in range(100):
        now += SECOND * 60
        await scene.promote(now)
        lost = await scene.store.orphans(now, 1000)
        await scene.finish([*lost], OutcomeKind.LOST, now)
        claims = await scene.claim(now, "last")
        await scene.succeed(claims, now)
        stats = await scene.store.stats()
        if not any(stats[state] for state in State if state not in ENDED):
            break
    else:
        pytest.fail(f"something never ended: {stats}")
    assert [gate for gate in owner["gates"].find() if gate["holders"]] == []
    assert list(owner["jobs"].find({"holder": {"$exists": True}})) == []
