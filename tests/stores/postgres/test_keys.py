"""Many places in concurrency gates at once: as exact as one by one."""

import random

import pytest

from tickwell.domain.execution import State
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.trigger import OnDemand
from tickwell.stores.memory.store import MemoryStore
from tickwell.testing.contract.builders import T0, a_job, a_request
from tickwell.testing.contract.scene import Scene


async def test_one_place_lets_in_more_than_were_read_where_limits_differ(scene, store, owner):
    narrow, wide = (
        a_job(trigger=OnDemand(), concurrency=Concurrency("k", limit)) for limit in (1, 20)
    )
    await scene.add(narrow, wide)
    await scene.run(*(a_request(wide, T0) for _ in range(20)))
    first = await scene.claim(T0)
    behind = [a_request(wide, T0 + 1) for _ in range(15)]
    await scene.run(a_request(narrow, T0), *behind, now=T0 + 1)
    await scene.succeed(first[1:], T0)
    assert (await store.stats())[State.BLOCKED] == 16  # the best of them has to be alone
    await scene.succeed(first[:1], T0)
    assert (await store.stats())[State.QUEUED] == 16
    assert await owner.fetchval("SELECT held FROM stores.gate") == 16


@pytest.mark.parametrize("seed", range(5))
async def test_batches_before_gates_end_as_they_do_in_memory(scene, seed):
    assert await _story(scene, random.Random(seed)) == await _story(
        Scene(MemoryStore()), random.Random(seed)
    )


async def _story(scene, chance):
    """Requests for several keys, ended in batches; who was claimed in which round."""
    jobs = [
        a_job(id=f"00000000-0000-8000-8000-00000000000{n}", trigger=OnDemand(), concurrency=key)
        for n, key in enumerate([Concurrency("k-{{payload.n}}", 2), Concurrency("k-1", 3), None])
    ]
    await scene.add(*jobs)
    rounds = []
    for step in range(12):
        now = T0 + step
        new = [_request(chance, jobs, now) for _ in range(chance.randrange(12))]
        for number, one in enumerate(new):
            one.id = f"00000000-0000-7000-8000-{step:06}{number:06}"
        await scene.run(*new, now=now)
        claims = await scene.claim(now, limit=chance.randrange(1, 10))
        rounds.append([claim.id for claim in claims])
        await scene.succeed(claims, now)
    return rounds


def _request(chance, jobs, now):
    overlap = chance.choice([Overlap.ALLOW, Overlap.QUEUE_ALL])
    return a_request(chance.choice(jobs), now, overlap=overlap, payload={"n": chance.randrange(3)})
