"""In no period are there more starts than the rate allows, and all runs start in the end."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from tickwell.domain.execution import OutcomeKind, Start
from tickwell.domain.outcome import Outcome, decide
from tickwell.domain.rate import read_rate
from tickwell.domain.trigger import OnDemand
from tickwell.stores.memory import MemoryStore
from tickwell.testing.contract.builders import T0, a_request
from tickwell.testing.contract.scene import Scene


@given(
    rate=st.sampled_from(["1/1s", "2/1s", "3/1s", "5/3s"]),
    steps=st.lists(
        st.tuples(
            st.integers(0, 1500),  # passes first
            st.integers(0, 4),  # requests
            st.sampled_from([0, 0, 500, 2000]),  # horizon
            st.integers(0, 3),  # claims
            st.sampled_from(["end", "record", "release", "lose", "keep"]),
            st.integers(0, 1200),  # how long a claim waits before it starts
        ),
        max_size=12,
    ),
)
def test_no_period_has_more_starts_than_the_rate(rate, steps):
    asyncio.run(_starts(rate, steps))


async def _starts(rate, steps):
    limit, period = read_rate(rate)
    scene, now, starts = Scene(MemoryStore(lambda: T0)), T0, []
    job = await scene.job(trigger=OnDemand(), rate=rate, retry=100)
    under_way = []
    for wait, requests, horizon, claims, fate, delay in steps:
        now += wait
        await scene.run(*(a_request(job, now) for _ in range(requests)), now=now, horizon=horizon)
        await scene.promote(now, horizon=horizon)
        for claim in await scene.claim(now, limit=claims):
            started = now + delay
            if fate == "release":
                under_way.append((now, claim, None, fate))
                continue
            starts.append(started)
            under_way.append((started, claim, started, fate))
        for due in [one for one in under_way if one[0] <= now and one[3] != "keep"]:
            under_way.remove(due)
            await _end(scene, *due[1:], now)
    await _settle(scene, under_way, starts, max(now, *(one[0] for one in under_way), T0))
    starts.sort()
    early = zip(starts, starts[limit:], strict=False)
    assert all(later - first >= period for first, later in early)
    assert len(starts) >= sum(requests for _, requests, *_ in steps)


async def _end(scene, claim, started, fate, now):
    kind = {"release": OutcomeKind.RELEASED, "lose": OutcomeKind.LOST}.get(
        fate, OutcomeKind.SUCCEEDED
    )
    if fate == "record":
        await scene.store.record_starts([Start(claim.id, claim.attempt, started)])
    told = None if fate == "lose" else started
    await scene.store.finish([decide(claim, Outcome(kind=kind, started_at=told), now)], now)


async def _settle(scene, under_way, starts, now):
    """What is left runs as soon as it may."""
    for _, claim, started, fate in under_way:
        await _end(scene, claim, started, fate, now)
    while True:
        await scene.promote(now)
        for claim in await scene.claim(now):
            starts.append(now)
            await _end(scene, claim, now, "end", now)
        wakeup = await scene.store.next_wakeup(now)
        later = [at for at in (wakeup.promote, wakeup.run) if at is not None]
        if not later:
            return
        now = max(now, min(later))
