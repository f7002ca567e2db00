"""Several processes' worth of everything at once: gates, counts and ends agree afterwards."""

import asyncio
import random

import pytest

from tests.servers.mariadb_tables import run
from tests.stores.mysql.conftest import PREFIX
from tests.stores.postgres.test_contention import HANDS, hand, made
from tickwell.domain.change import edit, pause, resume
from tickwell.domain.execution import ENDED, OutcomeKind, State
from tickwell.domain.gate import Concurrency
from tickwell.domain.policy import SECOND
from tickwell.domain.target import Call
from tickwell.domain.trigger import OnDemand
from tickwell.stores.mysql import claiming
from tickwell.testing.contract.builders import T0, a_job, a_request

#: What is kept twice, so that nobody has to count: both sides, which have to agree.
AGREE = {
    "gates": (
        "SELECT name, held FROM stores_gate WHERE held > 0 ORDER BY name",
        """SELECT gate, COUNT(*) FROM (
               SELECT gate FROM stores_queue WHERE holds_key UNION ALL
               SELECT gate FROM stores_running WHERE gate IS NOT NULL) AS every
           GROUP BY gate ORDER BY gate""",
    ),
    "holders": (
        "SELECT holder FROM stores_cursor WHERE holder IS NOT NULL ORDER BY 1",
        """SELECT id FROM stores_queue WHERE holds_job UNION ALL
           SELECT id FROM stores_running WHERE holds_job ORDER BY 1""",
    ),
    "ended": (
        """SELECT state, CAST(SUM(count) AS SIGNED) FROM stores_tally GROUP BY state
           HAVING SUM(count) <> 0 ORDER BY state""",
        """SELECT state, COUNT(*) FROM stores_execution
           WHERE state IS NOT NULL GROUP BY state ORDER BY state""",
    ),
    "made": (
        "SELECT job, made FROM stores_cursor WHERE made > 0 ORDER BY job",
        "SELECT job, COUNT(*) FROM stores_execution GROUP BY job ORDER BY job",
    ),
    "live": (
        "SELECT id FROM stores_execution WHERE state IS NULL ORDER BY id",
        "SELECT id FROM stores_queue UNION ALL SELECT id FROM stores_running ORDER BY id",
    ),
}


async def contradictions():
    assert PREFIX == "stores_"
    found = {}
    for name, (one, other) in AGREE.items():
        sides = await run(one), await run(other)
        if sides[0] != sides[1]:
            found[name] = sides
    return found


@pytest.mark.parametrize("seed", range(3))
async def test_everything_at_once_leaves_everything_exact(scenes, seed):
    chance, jobs = random.Random(seed), made()
    await scenes[0].add(*jobs)
    await asyncio.gather(
        *(hand(scenes[n % 2], n, jobs, random.Random(chance.random())) for n in range(HANDS))
    )
    assert await contradictions() == {}


async def test_a_gate_is_never_over_full(scenes):
    """At most three at once, whoever claims and ends, and all of them run."""
    job = a_job(trigger=OnDemand(), concurrency=Concurrency("k", 3))
    await scenes[0].add(job)
    await scenes[0].run(*(a_request(job, T0) for _ in range(60)))
    inside, most, done = set[str](), 0, 0

    async def work(number):
        nonlocal most, done
        scene, idle = scenes[number % 2], 0
        while idle < 20:
            claims = await scene.claim(T0, f"w{number}", limit=2)
            inside.update(claim.id for claim in claims)
            most = max(most, len(inside))
            await asyncio.sleep(0)
            inside.difference_update(claim.id for claim in claims)
            if claims:
                await scene.succeed(claims, T0)
            done += len(claims)
            idle = 0 if claims else idle + 1

    await asyncio.gather(*(work(n) for n in range(6)))
    assert done == 60
    assert most <= 3


async def test_what_somebody_takes_hides_nothing_else_from_others(scenes):
    """Two claims at once: together they get all, and neither is turned away."""
    job = a_job(trigger=OnDemand())
    await scenes[0].add(job)
    for worker in ("w0", "w1"):
        await scenes[0].beat(worker)
    for _ in range(20):
        await scenes[0].run(*(a_request(job, T0) for _ in range(20)))
        found = await asyncio.gather(*(scenes[n].claim(T0, f"w{n}", limit=10) for n in range(2)))
        assert [len(claims) for claims in found] == [10, 10]
        await scenes[0].succeed([claim for claims in found for claim in claims], T0)


async def test_a_claim_never_gets_more_than_it_asked_for(scenes, monkeypatch):
    """Between two looks of one claim others take some of a lane, and better ones come in."""
    jobs = {name: a_job(name, trigger=OnDemand(), target=Call(name)) for name in "abc"}
    await scenes[0].add(*jobs.values())
    await scenes[0].run(*(a_request(jobs["a"], T0) for _ in range(3)))
    await scenes[0].run(*(a_request(jobs["b"], T0) for _ in range(2)))
    looked, look = 0, claiming._claimable

    async def meanwhile(*asked):
        nonlocal looked
        looked, best = looked + 1, await look(*asked)
        if looked == 1:
            await scenes[1].claim_one(T0, "w2", limit=1, abilities=frozenset({"call:b"}))
            await scenes[1].run(*(a_request(jobs["c"], T0 - SECOND) for _ in range(5)))
        return best

    monkeypatch.setattr(claiming, "_claimable", meanwhile)
    abilities = frozenset(f"call:{name}" for name in jobs)
    claims = await scenes[0].claim(T0, "w1", limit=5, abilities=abilities)
    assert (looked, len(claims)) == (2, 5)
    assert [claim.run_at for claim in claims[:4]] == [T0 - SECOND] * 4


async def test_all_of_it_ends_when_people_let_it(scenes):
    jobs = made()
    await scenes[0].add(*jobs)
    await asyncio.gather(*(hand(scenes[n % 2], n, jobs, random.Random(n)) for n in range(HANDS)))
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
        await scene.finish([*await scene.store.orphans(now, 1000)], OutcomeKind.LOST, now)
        await scene.succeed(await scene.claim(now, "last"), now)
        stats = await scene.store.stats()
        if not any(stats[state] for state in State if state not in ENDED):
            break
    else:
        pytest.fail(f"something never ended: {stats}")
    assert await contradictions() == {}
    assert await run("SELECT 1 FROM stores_gate WHERE held <> 0") == ()
    assert await run("SELECT 1 FROM stores_cursor WHERE holder IS NOT NULL") == ()
