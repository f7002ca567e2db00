"""Several processes' worth of everything at once: gates, counts and ends agree afterwards."""

import asyncio

import pytest

from tests.servers.mariadb_tables import run
from tests.stores.crowd import everything_at_once, let_all_end, made, through_a_gate
from tests.stores.mysql.conftest import PREFIX
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
    await everything_at_once(scenes, made(), seed)
    assert await contradictions() == {}


async def test_a_gate_is_never_over_full(scenes):
    """At most three at once, whoever claims and ends, and all of them run."""
    most, done = await through_a_gate(scenes)
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


@pytest.mark.parametrize("unseen", [9, 10, 11])
async def test_a_claim_looks_again_for_what_came_while_it_looked(scenes, monkeypatch, unseen):
    """A lock is put on what was committed meanwhile; what is read beside it is as of before."""
    job = a_job(trigger=OnDemand())
    await scenes[0].add(job)
    await scenes[0].run(*(a_request(job, T0) for _ in range(3)))
    looked, look = 0, claiming.pick

    async def too_early(*asked):
        nonlocal looked
        looked, rows = looked + 1, [list(row) for row in await look(*asked)]
        if looked == 1:
            rows[1][unseen] = None
        return rows

    monkeypatch.setattr(claiming, "pick", too_early)
    await scenes[0].beat("w1")
    assert len(await scenes[0].claim(T0, "w1", limit=5)) == 3
    assert looked == 2


@pytest.mark.parametrize(
    "torn",
    [
        "DELETE FROM stores_cursor WHERE job = '{job}'",
        "UPDATE stores_execution SET payload = NULL WHERE job = '{job}'",
    ],
    ids=["cursor", "payload"],
)
async def test_what_is_never_whole_keeps_nobody_else_waiting(scenes, torn):
    jobs = [a_job(trigger=OnDemand()) for _ in range(2)]
    for job in jobs:
        await scenes[0].add(job)
        await scenes[0].run(a_request(job, T0, payload={"of": job.name}))
    await run(torn.format(job=jobs[0].id))
    await scenes[0].beat("w1")
    claims = await scenes[0].claim(T0, "w1", limit=5)
    assert [claim.job.id for claim in claims] == [jobs[1].id]
    assert len(await run("SELECT id FROM stores_queue")) == 1  # for whoever puts it right


async def test_all_of_it_ends_when_people_let_it(scenes):
    jobs = made()
    await everything_at_once(scenes, jobs, 7)
    await let_all_end(scenes[0], jobs)
    assert await contradictions() == {}
    assert await run("SELECT 1 FROM stores_gate WHERE held <> 0") == ()
    assert await run("SELECT 1 FROM stores_cursor WHERE holder IS NOT NULL") == ()
