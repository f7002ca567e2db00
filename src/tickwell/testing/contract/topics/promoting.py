"""Promoting: what waits becomes queued when its instant nears, and is skipped when too old."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

import pytest

from tickwell.domain.change import pause
from tickwell.domain.execution import OutcomeKind, Reason, State
from tickwell.domain.policy import DAY, MINUTE, SECOND
from tickwell.domain.trigger import OnDemand
from tickwell.ports.records import Promoted
from tickwell.testing.contract.builders import T0, a_request, minute
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.topic import Topic


class Promoting(Topic):
    """`promote`, but for gates."""

    async def test_what_waits_is_queued_within_the_horizon(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        [id] = await scene.run(a_request(job, minute(1)))
        assert (await scene.execution(id)).state is State.WAITING
        assert await scene.promote(minute(1) - 2001, horizon=2000) == Promoted()
        assert (await scene.execution(id)).state is State.WAITING
        assert await scene.promote(minute(1) - 2000, horizon=2000) == Promoted(queued=1)
        assert (await scene.execution(id)).state is State.QUEUED
        assert await scene.promote(minute(1), horizon=2000) == Promoted()

    async def test_the_limit_takes_the_earliest_first_and_says_that_there_is_more(
        self, scene: Scene
    ) -> None:
        job = await scene.job(trigger=OnDemand())
        times = [minute(3), minute(1), minute(2)]
        ids = await scene.run(*(a_request(job, at) for at in times))
        promoted = await scene.promote(minute(3), limit=2)
        assert (promoted.queued, promoted.more) == (2, True)
        assert (await scene.execution(ids[0])).state is State.WAITING
        assert await scene.promote(minute(3), limit=2) == Promoted(queued=1)

    async def test_past_its_time_to_live_it_is_skipped(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand(), ttl="10s")
        ids = await scene.run(a_request(job, T0), a_request(job, minute(1)))
        assert await scene.promote(T0 + 10 * SECOND - 1) == Promoted()
        assert await scene.promote(T0 + 10 * SECOND) == Promoted(skipped=1, expired=1)
        skipped = await scene.execution(ids[0])
        assert (skipped.state, skipped.reason) == (State.SKIPPED, Reason.TTL)
        assert skipped.ended_at == T0 + 10 * SECOND
        assert (await scene.execution(ids[1])).state is State.WAITING

    async def test_the_limit_counts_for_what_expires_as_well(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand(), ttl="1s")
        await scene.run(*(a_request(job, T0) for _ in range(3)))
        promoted = await scene.promote(minute(1), limit=2)
        assert (promoted.skipped, promoted.more) == (2, True)
        assert await scene.promote(minute(1), limit=2) == Promoted(skipped=1, expired=1)

    async def test_given_back_unstarted_it_still_expires(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand(), ttl="10s")
        [id] = await scene.run(a_request(job, T0))
        for now in (T0, T0 + 1):
            claim = await scene.claim_one(now)
            await scene.finish(claim, OutcomeKind.RELEASED, now, started=False)
        assert (await scene.store.next_wakeup(T0 + 2)).expire == T0 + 10 * SECOND
        assert await scene.claim(T0 + 10 * SECOND) == []
        assert await scene.promote(T0 + 10 * SECOND) == Promoted(skipped=1, expired=1)
        skipped = await scene.execution(id)
        assert (skipped.state, skipped.reason, skipped.attempt) == (State.SKIPPED, Reason.TTL, 2)

    @pytest.mark.parametrize("kind", [OutcomeKind.FAILED, OutcomeKind.RELEASED, OutcomeKind.LOST])
    async def test_once_an_attempt_may_have_started_nothing_expires(
        self, scene: Scene, kind: OutcomeKind
    ) -> None:
        job = await scene.job(trigger=OnDemand(), ttl="1s")
        await scene.run(a_request(job, T0))
        started = kind is not OutcomeKind.LOST
        await scene.finish(await scene.claim_one(T0), kind, T0, started=started)
        assert (await scene.store.next_wakeup(T0)).expire is None
        await scene.promote(T0 + DAY)
        released = await scene.claim_one(T0 + DAY)
        await scene.finish(released, OutcomeKind.RELEASED, T0 + DAY, started=False)
        assert (await scene.claim_one(T0 + DAY)).attempt == 3

    async def test_once_claimed_it_does_not_expire(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand(), ttl="1s")
        await scene.run(a_request(job, T0))
        claim = await scene.claim_one(T0)
        assert await scene.promote(minute(1)) == Promoted()
        await scene.finish(claim, OutcomeKind.FAILED, minute(1))
        promoted = await scene.promote(minute(2))
        assert promoted == Promoted(queued=1)

    async def test_a_retry_is_queued_when_its_delay_is_over(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        await scene.run(a_request(job, T0))
        claim = await scene.claim_one(T0)
        await scene.finish(claim, OutcomeKind.SNOOZED, T0, delay=MINUTE)
        assert await scene.promote(minute(1) - 1) == Promoted()
        assert await scene.promote(minute(1)) == Promoted(queued=1)

    async def test_what_is_held_is_not_promoted(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        [id] = await scene.run(a_request(job, T0))
        await scene.change(job, pause("ann", "wait"), T0)
        assert await scene.promote(minute(60 * 24 * 365)) == Promoted()
        assert (await scene.execution(id)).state is State.WAITING

    async def test_what_is_parked_is_not_promoted_until_it_waits_again(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        [id] = await scene.run(a_request(job, T0))
        await scene.settle([id], State.PARKED, T0)
        assert await scene.promote(minute(1)) == Promoted()
        await scene.settle([id], State.WAITING, minute(1))
        assert await scene.promote(minute(1)) == Promoted(queued=1)
