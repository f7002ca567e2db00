"""Lanes: one for each queue and ability, whatever ranks and due times are; none when empty."""

from tests.stores.redis.conftest import PREFIX
from tickwell.domain.trigger import OnDemand
from tickwell.testing.contract.builders import T0, a_request

LANES = f"{{{PREFIX}}}:lanes:default"


async def test_ranks_that_differ_from_due_times_share_a_lane(scene, keys):
    """As fairness between projects makes them: any number of milliseconds behind."""
    job = await scene.job(trigger=OnDemand())
    requests = [a_request(job, T0 + place) for place in range(50)]
    for place, request in enumerate(requests):
        request.rank += 1000 * (50 - place)
    ids = await scene.run(*requests, now=T0 + 50)
    assert keys.scard(LANES) == 1
    claims = await scene.claim(T0 + 50, limit=50)
    assert [claim.id for claim in claims] == ids[::-1]


async def test_what_is_ahead_of_the_lead_is_passed_over(scene):
    job = await scene.job(trigger=OnDemand())
    later = a_request(job, T0 + 900)
    later.rank = 0  # first in order, and not due
    ids = await scene.run(later, a_request(job, T0), now=T0, horizon=1000)
    assert [claim.id for claim in await scene.claim(T0, limit=1)] == [ids[1]]
    assert (await scene.store.next_wakeup(T0, ["default"])).run == T0 + 900
    assert await scene.claim(T0, lead=899) == []
    assert [claim.id for claim in await scene.claim(T0, lead=900)] == [ids[0]]


async def test_an_empty_lane_is_forgotten(scene, keys):
    job = await scene.job(trigger=OnDemand())
    await scene.run(a_request(job, T0))
    assert len(await scene.claim(T0)) == 1
    assert await scene.claim(T0) == []
    assert keys.scard(LANES) == 0
    await scene.run(a_request(job, T0))
    assert len(await scene.claim(T0)) == 1
