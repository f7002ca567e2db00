"""Wake-ups: exactly when a loop has to act next, so that nobody polls."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from tickwell.domain.change import delete, pause, resume
from tickwell.domain.execution import OutcomeKind, State
from tickwell.domain.policy import MINUTE, SECOND
from tickwell.domain.trigger import Every, OnDemand
from tickwell.ports.records import Wakeup
from tickwell.testing.contract.builders import T0, a_request, minute
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.topic import Topic


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
        job = await scene.job(trigger=OnDemand(), ttl="10s")
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
