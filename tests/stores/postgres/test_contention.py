"""Several processes' worth of everything at once: gates, counts and ends agree afterwards."""

import pytest

from tests.servers.schemas import url
from tests.stores.crowd import everything_at_once, let_all_end, made
from tickwell.domain.trigger import OnDemand
from tickwell.stores.postgres import PostgresStore
from tickwell.testing.contract.builders import T0, a_job, a_request
from tickwell.testing.contract.scene import Scene


@pytest.fixture
async def scenes(store):
    other = PostgresStore.from_url(url("stores"))
    await other.open()
    yield Scene(store), Scene(other)
    await other.close()


async def facts(owner, query):
    return [tuple(row) for row in await owner.fetch(query)]


@pytest.mark.parametrize("seed", range(3))
async def test_everything_at_once_leaves_everything_exact(scenes, owner, seed):
    await everything_at_once(scenes, made(), seed)
    held = """
        SELECT name, held FROM stores.gate WHERE held > 0 ORDER BY name"""
    holding = """
        SELECT gate, count(*)::int FROM (
            SELECT gate FROM stores.queue WHERE holds_key UNION ALL
            SELECT gate FROM stores.running WHERE gate IS NOT NULL) AS every
        GROUP BY gate ORDER BY gate"""
    assert await facts(owner, held) == await facts(owner, holding)
    holders = "SELECT holder FROM stores.cursor WHERE holder IS NOT NULL ORDER BY 1"
    permits = """
        SELECT id FROM stores.queue WHERE holds_job UNION ALL
        SELECT id FROM stores.running WHERE holds_job ORDER BY 1"""
    assert await facts(owner, holders) == await facts(owner, permits)
    counted = """
        SELECT state, sum(count)::int FROM stores.tally GROUP BY state
        HAVING sum(count) <> 0 ORDER BY state"""
    ended = """
        SELECT state, count(*)::int FROM stores.execution
        WHERE state IS NOT NULL GROUP BY state ORDER BY state"""
    assert await facts(owner, counted) == await facts(owner, ended)
    on_record = "SELECT job, made::int FROM stores.cursor WHERE made > 0 ORDER BY job"
    there = "SELECT job, count(*)::int FROM stores.execution GROUP BY job ORDER BY job"
    assert await facts(owner, on_record) == await facts(owner, there)
    strays = """
        SELECT id FROM stores.execution WHERE state IS NULL EXCEPT
        (SELECT id FROM stores.queue UNION ALL SELECT id FROM stores.running)"""
    assert await facts(owner, strays) == []


async def test_all_of_it_ends_when_people_let_it(scenes, owner):
    jobs = made()
    await everything_at_once(scenes, jobs, 7)
    await let_all_end(scenes[0], jobs)
    assert await facts(owner, "SELECT 1 FROM stores.gate WHERE held <> 0") == []
    assert await facts(owner, "SELECT 1 FROM stores.cursor WHERE holder IS NOT NULL") == []


@pytest.mark.parametrize("which", range(3))
async def test_a_run_whose_job_was_torn_away_is_not_taken_for_another(scenes, owner, which):
    jobs = sorted((a_job(trigger=OnDemand()) for _ in range(3)), key=lambda job: job.id)
    for job in jobs:
        await scenes[0].add(job)
        await scenes[0].run(a_request(job, T0, payload={"of": job.id}))
    torn = jobs.pop(which)
    await owner.execute("DELETE FROM stores.cursor WHERE job = $1", torn.id)
    await scenes[0].beat("w1")
    claims = await scenes[0].claim(T0, "w1", limit=5)
    assert sorted(claim.job.id for claim in claims) == [job.id for job in jobs]
    assert all(claim.payload == {"of": claim.job.id} for claim in claims)
    assert len(await facts(owner, "SELECT id FROM stores.queue")) == 1  # for whoever puts it right
