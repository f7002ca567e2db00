"""Several processes' worth of everything at once: gates, counts and ends agree afterwards."""

import asyncio
import random
from contextlib import suppress

import pytest

from tests.servers.schemas import url
from tickwell.domain.change import edit, pause, resume
from tickwell.domain.execution import ENDED, OutcomeKind, State
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.job import JobState
from tickwell.domain.policy import SECOND
from tickwell.domain.trigger import Every, OnDemand
from tickwell.errors import TickwellError
from tickwell.stores.postgres import PostgresStore
from tickwell.testing.contract.builders import T0, a_job, a_request
from tickwell.testing.contract.scene import Scene

STEPS, HANDS = 40, 6
KINDS = [OutcomeKind.SUCCEEDED] * 4 + [OutcomeKind.FAILED, OutcomeKind.RELEASED]


@pytest.fixture
async def scenes(store):
    other = PostgresStore.from_url(url("stores"))
    await other.open()
    yield Scene(store), Scene(other)
    await other.close()


def made():
    keyed = Concurrency("k", 2)
    return [
        a_job(trigger=Every("1s"), overlap=Overlap.SKIP),
        a_job(trigger=Every("1s"), overlap=Overlap.QUEUE_ALL, concurrency=keyed),
        a_job(trigger=Every("1s"), overlap=Overlap.CANCEL_RUNNING),
        a_job(trigger=Every("1s"), overlap=Overlap.ALLOW, concurrency=Concurrency("other", 1)),
        a_job(trigger=OnDemand(), concurrency=keyed),
        a_job(trigger=OnDemand(), concurrency=Concurrency("k-{{payload.n}}", 1)),
        a_job(trigger=OnDemand()),
    ]


async def hand(scene, number, jobs, chance):
    """One of many at work: whatever it feels like, at its own idea of the time."""
    worker = f"w{number}"
    for step in range(STEPS):
        now = T0 + step * SECOND // 2 + chance.randrange(300)
        what, job = chance.randrange(12), chance.choice(jobs)
        if what < 3:
            await scene.fire(now, horizon=500, limit=20)
            await scene.promote(now, horizon=500, limit=20)
        elif what < 7:
            claims = await scene.claim(now, worker, limit=8)
            ended = [claim for claim in claims if chance.random() < 0.8]
            await asyncio.gather(
                *(scene.finish(claim, chance.choice(KINDS), now) for claim in ended[::2])
            )
            await scene.succeed(ended[1::2], now)
        elif what < 9:
            overlap = chance.choice([Overlap.ALLOW, Overlap.QUEUE_ONE])
            payload = {"n": chance.randrange(2)}
            await scene.run(a_request(job, now, overlap=overlap, payload=payload), now=now)
        elif what == 9:
            live = [one.id for one in await scene.executions(job) if one.state not in ENDED]
            await scene.store.request_cancel("default", live[:3], now)
        else:
            await change(scene, job, now)


async def change(scene, job, now):
    [entry] = await scene.store.get_jobs("default", [job.id])
    if entry.cursor.state is JobState.PAUSED:
        changer = resume()
    else:
        changer = pause("ann", "why") if now % 2 else edit(job)
    with suppress(TickwellError):  # another hand was faster
        await scene.change(job, changer, now)


async def facts(owner, query):
    return [tuple(row) for row in await owner.fetch(query)]


@pytest.mark.parametrize("seed", range(3))
async def test_everything_at_once_leaves_everything_exact(scenes, owner, seed):
    chance = random.Random(seed)
    jobs = made()
    await scenes[0].add(*jobs)
    await asyncio.gather(
        *(hand(scenes[n % 2], n, jobs, random.Random(chance.random())) for n in range(HANDS))
    )
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
        lost = await scene.store.orphans(now, 1000)
        await scene.finish([*lost], OutcomeKind.LOST, now)
        claims = await scene.claim(now, "last")
        await scene.succeed(claims, now)
        stats = await scene.store.stats()
        if not any(stats[state] for state in State if state not in ENDED):
            break
    else:
        pytest.fail(f"something never ended: {stats}")
    assert await facts(owner, "SELECT 1 FROM stores.gate WHERE held <> 0") == []
    assert await facts(owner, "SELECT 1 FROM stores.cursor WHERE holder IS NOT NULL") == []
