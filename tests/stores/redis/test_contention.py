"""Several processes' worth of everything at once: gates, counts and ends agree afterwards."""

import asyncio
import random

import pytest

from tests.stores.postgres.test_contention import HANDS, hand, made
from tests.stores.redis.conftest import PREFIX
from tests.stores.redis.invariants import contradictions
from tickwell.domain.change import edit, pause, resume
from tickwell.domain.execution import ENDED, OutcomeKind, State
from tickwell.domain.gate import Concurrency
from tickwell.domain.policy import SECOND
from tickwell.domain.trigger import OnDemand
from tickwell.testing.contract.builders import T0, a_job, a_request
from tickwell.testing.contract.scene import Scene


@pytest.fixture
def scenes(store, other):
    return Scene(store), Scene(other)


@pytest.mark.parametrize("seed", range(3))
async def test_everything_at_once_leaves_everything_exact(scenes, keys, seed):
    chance, jobs = random.Random(seed), made()
    await scenes[0].add(*jobs)
    await asyncio.gather(
        *(hand(scenes[n % 2], n, jobs, random.Random(chance.random())) for n in range(HANDS))
    )
    assert contradictions(keys, PREFIX) == []


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
    assert (most, done) == (3, 60)


async def test_all_of_it_ends_when_people_let_it(scenes, keys):
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
    assert contradictions(keys, PREFIX) == []
    assert keys.hlen(f"{{{PREFIX}}}:holder") == 0
    assert list(keys.scan_iter(f"{{{PREFIX}}}:holds:*")) == []
