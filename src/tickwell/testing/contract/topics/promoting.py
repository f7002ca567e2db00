"""Promoting executions, and the instants at which loops have to wake up."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

import pytest

from tickwell.domain.change import delete, pause, resume
from tickwell.domain.execution import OutcomeKind, Reason, State
from tickwell.domain.policy import DAY, MINUTE, SECOND
from tickwell.domain.trigger import Every, OnDemand
from tickwell.ports.records import Promoted, Wakeup
from tickwell.testing.contract.builders import T0, a_request, minute
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.topic import Topic


class Promoting(Topic):
    """`promote`, except for gates."""

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
        job = await scene.job(trigger=OnDemand(), expires="10s")
        ids = await scene.run(a_request(job, T0), a_request(job, minute(1)))
        assert await scene.promote(T0 + 10 * SECOND - 1) == Promoted()
        assert await scene.promote(T0 + 10 * SECOND) == Promoted(skipped=1, expired=1)
        skipped = await scene.execution(ids[0])
        assert (skipped.state, skipped.reason) == (State.SKIPPED, Reason.EXPIRED)
        assert skipped.ended_at == T0 + 10 * SECOND
        assert (await scene.execution(ids[1])).state is State.WAITING

    async def test_the_limit_counts_for_what_expires_as_well(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand(), expires="1s")
        await scene.run(*(a_request(job, T0) for _ in range(3)))
        promoted = await scene.promote(minute(1), limit=2)
        assert (promoted.skipped, promoted.more) == (2, True)
        assert await scene.promote(minute(1), limit=2) == Promoted(skipped=1, expired=1)

    async def test_given_back_unstarted_it_still_expires(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand(), expires="10s")
        [id] = await scene.run(a_request(job, T0))
        for now in (T0, T0 + 1):
            claim = await scene.claim_one(now)
            await scene.finish(claim, OutcomeKind.RELEASED, now, started=False)
        assert (await scene.store.next_wakeup(T0 + 2)).expire == T0 + 10 * SECOND
        assert await scene.claim(T0 + 10 * SECOND) == []
        assert await scene.promote(T0 + 10 * SECOND) == Promoted(skipped=1, expired=1)
        skipped = await scene.execution(id)
        assert (skipped.state, skipped.reason, skipped.attempt) == (
            State.SKIPPED,
            Reason.EXPIRED,
            2,
        )

    @pytest.mark.parametrize("kind", [OutcomeKind.FAILED, OutcomeKind.RELEASED, OutcomeKind.LOST])
    async def test_once_an_attempt_may_have_started_nothing_expires(
        self, scene: Scene, kind: OutcomeKind
    ) -> None:
        job = await scene.job(trigger=OnDemand(), expires="1s")
        await scene.run(a_request(job, T0))
        started = kind is not OutcomeKind.LOST
        await scene.finish(await scene.claim_one(T0), kind, T0, started=started)
        assert (await scene.store.next_wakeup(T0)).expire is None
        await scene.promote(T0 + DAY)
        released = await scene.claim_one(T0 + DAY)
        await scene.finish(released, OutcomeKind.RELEASED, T0 + DAY, started=False)
        assert (await scene.claim_one(T0 + DAY)).attempt == 3

    async def test_once_claimed_it_does_not_expire(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand(), expires="1s")
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


class Wakeups(Topic):
    """`next_wakeup`."""

    async def test_an_empty_store_lets_everybody_rest(self, scene: Scene) -> None:
        assert await scene.store.next_wakeup(T0) == Wakeup()

    async def test_the_first_cursor_to_be_looked_at(self, scene: Scene) -> None:
        await scene.job(trigger=Every("3m"))
        two = await scene.job(trigger=Every("2m"))
        await scene.job(trigger=OnDemand())
        assert (await scene.store.next_wakeup(T0)).fire == minute(2)
        await scene.fire(minute(2))
        assert (await scene.store.next_wakeup(T0)).fire == minute(3)
        await scene.change(two, delete(), minute(2))
        await scene.fire(minute(3))
        assert (await scene.store.next_wakeup(T0)).fire == minute(6)

    async def test_a_pause_is_looked_at_when_it_ends(self, scene: Scene) -> None:
        job = await scene.job()
        await scene.change(job, pause("ann", "wait", until=minute(7)), T0)
        assert (await scene.store.next_wakeup(T0)).fire == minute(7)
        await scene.change(job, pause("ann", "wait"), T0)
        assert (await scene.store.next_wakeup(T0)).fire is None
        await scene.change(job, resume(), minute(2))
        assert (await scene.store.next_wakeup(T0)).fire == minute(2)

    async def test_the_end_of_a_run_that_the_next_fire_counts_from(self, scene: Scene) -> None:
        await scene.job(trigger=Every("1m", after="finish"))
        await scene.fire(minute(1))
        assert (await scene.store.next_wakeup(minute(1))).fire is None
        await scene.succeed(await scene.claim_one(minute(1)), minute(2))
        assert (await scene.store.next_wakeup(minute(2))).fire == minute(2)

    async def test_the_first_that_waits(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        await scene.run(a_request(job, minute(3)), a_request(job, minute(2)))
        assert (await scene.store.next_wakeup(T0)).promote == minute(2)
        await scene.promote(minute(2))
        assert (await scene.store.next_wakeup(T0)).promote == minute(3)
        await scene.promote(minute(3))
        assert (await scene.store.next_wakeup(T0)).promote is None

    async def test_before_a_busy_gate_its_instant_whatever_the_horizon(self, scene: Scene) -> None:
        await scene.job()
        await scene.fire(minute(1))
        await scene.fire(minute(2) - 2000, horizon=2000)
        # A planner acts a horizon before this: exactly at the instant.
        assert (await scene.store.next_wakeup(minute(1))).promote == minute(2) + 2000

    async def test_what_is_held_is_nothing_to_come(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        await scene.run(a_request(job, T0))
        await scene.change(job, pause("ann", "wait"), T0)
        assert await scene.store.next_wakeup(T0) == Wakeup()

    async def test_what_is_parked_is_nothing_to_come(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        ids = await scene.run(a_request(job, T0), a_request(job, minute(1)))
        await scene.settle(ids, State.PARKED, T0)
        assert await scene.store.next_wakeup(T0 - 1) == Wakeup()

    async def test_a_retry_that_waits(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        await scene.run(a_request(job, T0))
        claim = await scene.claim_one(T0)
        assert await scene.store.next_wakeup(T0) == Wakeup()
        await scene.finish(claim, OutcomeKind.SNOOZED, T0, delay=MINUTE)
        assert (await scene.store.next_wakeup(T0)).promote == minute(1)

    async def test_the_first_to_pass_its_time_to_live(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand(), expires="10s")
        await scene.run(a_request(job, T0), a_request(job, minute(1)))
        assert (await scene.store.next_wakeup(T0)).expire == T0 + 10 * SECOND
        await scene.claim_one(T0)
        assert (await scene.store.next_wakeup(T0)).expire == minute(1) + 10 * SECOND

    async def test_the_first_queued_to_come_due_in_the_queues(self, scene: Scene) -> None:
        slow = await scene.job(trigger=OnDemand(), queue="slow")
        fast = await scene.job(trigger=OnDemand(), queue="fast")
        requests = [a_request(slow, T0 + 5), a_request(fast, T0 + 9), a_request(fast, T0)]
        await scene.run(*requests, horizon=10)
        assert (await scene.store.next_wakeup(T0)).run == T0 + 5
        assert (await scene.store.next_wakeup(T0, ["fast"])).run == T0 + 9
        assert (await scene.store.next_wakeup(T0 + 5, ["slow"])).run is None
        assert (await scene.store.next_wakeup(T0 - 1, ["fast", "slow"])).run == T0
        assert (await scene.store.next_wakeup(T0, [])).run is None

    async def test_what_is_claimed_is_not_to_come(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        await scene.run(a_request(job, T0 + 5), horizon=10)
        await scene.claim_one(T0, lead=10)
        assert (await scene.store.next_wakeup(T0)).run is None

    async def test_the_stores_time_is_an_instant(self, scene: Scene) -> None:
        first, second = await scene.store.ping(), await scene.store.ping()
        # A store's clock is some machine's: later than this kit, and it does not run backwards.
        assert T0 - 400 * 24 * 60 * MINUTE < first <= second
