"""A job that counts from the end of a run never has two of them."""

from tests.services.conftest import TEN, WORKER
from tickwell.domain.execution import OutcomeKind
from tickwell.domain.gate import Overlap
from tickwell.domain.outcome import Outcome, decide
from tickwell.domain.policy import MINUTE, SECOND
from tickwell.domain.trigger import Every
from tickwell.ports.records import ClaimRequest


async def claim(world, number):
    now = world.clock.now()
    await world.store.beat(WORKER, now)
    return await world.store.claim(
        ClaimRequest(
            worker="w",
            claim_id=str(number),
            now=now,
            lead=0,
            limit=9,
            queues=("default",),
            abilities=frozenset({"call:*/x"}),
        )
    )


async def test_a_run_that_outlasts_a_pause_is_not_joined_by_another(world):
    await world.jobs.add(world.job(Every("1m", after="finish"), overlap=Overlap.ALLOW))
    await world.at(TEN + MINUTE)
    (running,) = await claim(world, 1)
    await world.jobs.pause("default", ["report"], by="ann")
    world.clock.instant += 10 * SECOND
    await world.jobs.resume("default", ["report"])
    for minute in (2, 3, 4):
        await world.at(TEN + minute * MINUTE + 10 * SECOND)
        assert await claim(world, minute) == []
    ended = TEN + 5 * MINUTE
    outcome = Outcome(kind=OutcomeKind.SUCCEEDED, started_at=TEN + MINUTE)
    await world.store.finish([decide(running, outcome, ended)], ended)
    await world.at(ended + MINUTE - 1)
    assert await claim(world, 5) == []
    await world.at(ended + MINUTE)
    assert [one.fire_time for one in await claim(world, 6)] == [ended + MINUTE]
