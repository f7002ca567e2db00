"""A crowd on one store: two connections, and several hands that do whatever they feel like."""

import asyncio
import random
from contextlib import suppress

import pytest

from tickwell.domain.change import edit, pause, resume
from tickwell.domain.execution import ENDED, OutcomeKind, State
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.job import JobState
from tickwell.domain.policy import SECOND
from tickwell.domain.trigger import Every, OnDemand
from tickwell.errors import TickwellError
from tickwell.testing.contract.builders import T0, a_job, a_request

STEPS, HANDS = 40, 6
KINDS = [OutcomeKind.SUCCEEDED] * 4 + [OutcomeKind.FAILED, OutcomeKind.RELEASED]


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


async def everything_at_once(scenes, jobs, seed):
    """All hands on these jobs, which are added first."""
    chance = random.Random(seed)
    await scenes[0].add(*jobs)
    await asyncio.gather(
        *(hand(scenes[n % 2], n, jobs, random.Random(chance.random())) for n in range(HANDS))
    )


async def let_all_end(scene, jobs):
    """Nobody comes back; whoever is left ends what there is."""
    now = T0 + 100 * SECOND
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
            return
    pytest.fail(f"something never ended: {stats}")


async def through_a_gate(scenes):
    """Sixty runs through a gate of three; how many were inside at once at most, and ended."""
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
    return most, done
