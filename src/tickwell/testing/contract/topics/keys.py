"""Concurrency keys: a limit on live executions with the same key."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tickwell.domain.change import delete, edit, pause, resume
from tickwell.domain.execution import OutcomeKind, State
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.job import Job
from tickwell.domain.policy import MINUTE
from tickwell.domain.trigger import Every, OnDemand
from tickwell.testing.contract.builders import T0, a_request, minute
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.topic import Topic


class Keys(Topic):
    """Concurrency limits."""

    async def _job(self, scene: Scene, limit: int = 1, key: str = "k", **fields: Any) -> Job:
        definition: dict[str, Any] = {
            "trigger": OnDemand(),
            "concurrency": Concurrency(key, limit),
            **fields,
        }
        return await scene.job(**definition)

    async def test_the_limit_holds_among_jobs(self, scene: Scene) -> None:
        jobs = [await self._job(scene, limit=2) for _ in range(3)]
        await scene.run(*(a_request(job, T0) for job in jobs))
        assert sorted(await scene.states()) == [State.BLOCKED, State.QUEUED, State.QUEUED]
        claims = await scene.claim(T0)
        assert len(claims) == 2
        await scene.succeed(claims[0], T0)
        assert len(await scene.claim(T0)) == 1

    async def test_projects_have_gates_of_their_own(self, scene: Scene) -> None:
        mine = await self._job(scene)
        yours = await self._job(scene, project="yours")
        await scene.run(a_request(mine, T0), a_request(yours, T0))
        assert await scene.states() == [State.QUEUED, State.QUEUED]

    async def test_the_key_may_depend_on_the_payload(self, scene: Scene) -> None:
        job = await self._job(scene, key="customer-{{payload.customer}}", payload={"customer": 1})
        ids = await scene.run(
            a_request(job, T0),
            a_request(job, T0, payload={"customer": 2}),
            a_request(job, T0, payload={"customer": 1}),
        )
        states = [(await scene.execution(id)).state for id in ids]
        assert states == [State.QUEUED, State.QUEUED, State.BLOCKED]

    async def test_the_best_of_those_before_the_gate_gets_the_permit(self, scene: Scene) -> None:
        job = await self._job(scene)
        urgent = await self._job(scene, priority=10)
        await scene.run(a_request(job, T0))
        claim = await scene.claim_one(T0)
        ids = await scene.run(
            a_request(job, T0 + 2), a_request(job, T0 + 1), a_request(urgent, T0 + 3), now=T0 + 3
        )
        order = []
        for _ in ids:
            await scene.succeed(claim, T0 + 4)
            claim = await scene.claim_one(T0 + 4)
            order.append(claim.id)
        assert order == [ids[2], ids[1], ids[0]]

    async def test_the_permit_does_not_survive_a_retry_wait(self, scene: Scene) -> None:
        job = await self._job(scene)
        ids = await scene.run(a_request(job, T0), a_request(job, T0 + 1), now=T0 + 1)
        claim = await scene.claim_one(T0 + 1)
        await scene.finish(claim, OutcomeKind.SNOOZED, T0 + 2, delay=MINUTE)
        assert (await scene.execution(ids[1])).state is State.QUEUED
        await scene.promote(minute(2))
        assert (await scene.execution(ids[0])).state is State.BLOCKED
        await scene.succeed(await scene.claim_one(minute(2)), minute(2))
        assert (await scene.execution(ids[0])).state is State.QUEUED

    async def test_one_that_is_released_stands_behind_those_who_waited(self, scene: Scene) -> None:
        job = await self._job(scene)
        ids = await scene.run(a_request(job, T0), a_request(job, T0 + 1), now=T0 + 1)
        claim = await scene.claim_one(T0 + 1)
        await scene.finish(claim, OutcomeKind.RELEASED, T0 + 2)
        states = [(await scene.execution(id)).state for id in ids]
        assert states == [State.BLOCKED, State.QUEUED]

    async def test_the_permit_passes_on_when_its_holder_is_settled(self, scene: Scene) -> None:
        job = await self._job(scene)
        for to in (State.CANCELLED, State.SKIPPED, State.PARKED):
            ids = await scene.run(a_request(job, T0), a_request(job, T0 + 1), now=T0 + 1)
            await scene.settle([ids[0]], to, T0 + 1)
            assert (await scene.execution(ids[1])).state is State.QUEUED, to
            await scene.settle(ids, State.CANCELLED, T0 + 1)

    async def test_one_that_leaves_the_line_takes_no_permit(self, scene: Scene) -> None:
        job = await self._job(scene)
        ids = await scene.run(*(a_request(job, T0 + n) for n in range(3)), now=T0 + 3)
        await scene.settle([ids[1]], State.CANCELLED, T0 + 3)
        await scene.succeed(await scene.claim_one(T0 + 3), T0 + 3)
        states = [(await scene.execution(id)).state for id in ids]
        assert states == [State.SUCCEEDED, State.CANCELLED, State.QUEUED]

    async def test_whoever_leaves_the_line_makes_way_at_once(self, scene: Scene) -> None:
        now = minute(1) + 2
        for number, to in enumerate((State.CANCELLED, State.SKIPPED, State.PARKED)):
            _, first, next_one = await self._line(scene, f"settle-{number}")
            await scene.settle([first], to, now)
            assert (await scene.execution(next_one)).state is State.QUEUED, to
        for name, changer in (("pause", pause("ann", "wait")), ("delete", delete())):
            for fires in (True, False):
                job, _, next_one = await self._line(scene, f"{name}-{fires}", fires=fires)
                await scene.change(job, changer, now)
                assert (await scene.execution(next_one)).state is State.QUEUED, (name, fires)
        _, first, next_one = await self._line(scene, "cancel")
        await scene.store.request_cancel("default", [first], now)
        assert (await scene.execution(next_one)).state is State.QUEUED
        _, _, next_one = await self._line(scene, "expire", expires="1m")
        await scene.promote(minute(2) + 2)
        assert (await scene.execution(next_one)).state is State.QUEUED

    async def _line(
        self, scene: Scene, key: str, *, fires: bool = True, **fields: Any
    ) -> tuple[Job, str, str]:
        """A gate with one holder: the first before it wants it alone, the next would share it."""
        wide = await self._job(scene, key=key, limit=2)
        trigger = Every("1m") if fires else OnDemand()
        narrow = await self._job(scene, key=key, trigger=trigger, **fields)
        holders = await scene.run(*(a_request(wide, T0) for _ in range(2)))
        if fires:
            await scene.fire(minute(1))
            first = (await scene.at(narrow, minute(1))).id
        else:
            [first] = await scene.run(a_request(narrow, minute(1)), now=minute(1))
        [next_one] = await scene.run(a_request(wide, minute(1) + 1), now=minute(1) + 1)
        await scene.settle([holders[0]], State.CANCELLED, minute(1) + 1)
        states = [(await scene.execution(id)).state for id in (first, next_one)]
        assert states == [State.BLOCKED, State.BLOCKED]
        return narrow, first, next_one

    async def test_both_gates_are_passed_job_first(self, scene: Scene) -> None:
        limits = Concurrency("k", 1)
        busy = await scene.job(concurrency=limits, trigger=OnDemand())
        await scene.run(a_request(busy, T0))
        claim = await scene.claim_one(T0)
        job = await scene.job(concurrency=limits, overlap=Overlap.SKIP)
        await scene.fire(minute(1))
        assert (await scene.at(job, minute(1))).state is State.BLOCKED
        await scene.fire(minute(2))
        assert (await scene.at(job, minute(2))).state is State.SKIPPED
        await scene.succeed(claim, minute(2))
        assert (await scene.at(job, minute(1))).state is State.QUEUED

    async def test_a_permit_passed_on_by_the_job_still_needs_the_key(self, scene: Scene) -> None:
        limits = Concurrency("k", 1)
        job = await scene.job(concurrency=limits, overlap=Overlap.QUEUE_ALL)
        await scene.fire(minute(1))
        claim = await scene.claim_one(minute(1))
        await scene.fire(minute(2))
        other = await scene.job(concurrency=limits, trigger=OnDemand(), priority=10)
        [id] = await scene.run(a_request(other, minute(2)), now=minute(2))
        await scene.succeed(claim, minute(2) + 1)
        assert (await scene.execution(id)).state is State.QUEUED
        assert (await scene.at(job, minute(2))).state is State.BLOCKED
        await scene.succeed(await scene.claim_one(minute(2) + 1), minute(2) + 2)
        assert (await scene.at(job, minute(2))).state is State.QUEUED

    async def test_a_raised_limit_lets_in_those_who_wait(self, scene: Scene) -> None:
        job = await self._job(scene)
        await scene.run(*(a_request(job, T0 + n) for n in range(4)), now=T0 + 3)
        await scene.change(job, edit(replace(job, concurrency=Concurrency("k", 3))), T0 + 3)
        assert await scene.states() == [State.QUEUED] * 3 + [State.BLOCKED]

    async def test_a_lowered_limit_holds_for_those_who_come(self, scene: Scene) -> None:
        job = await self._job(scene, limit=2)
        await scene.run(*(a_request(job, T0 + n) for n in range(3)), now=T0 + 3)
        claims = await scene.claim(T0 + 3)
        await scene.change(job, edit(replace(job, concurrency=Concurrency("k", 1))), T0 + 3)
        await scene.succeed(claims[0], T0 + 4)
        assert State.QUEUED not in await scene.states()
        await scene.succeed(claims[1], T0 + 4)
        assert (await scene.states())[2] is State.QUEUED

    async def test_a_raised_limit_counts_for_keys_that_depend_on_the_payload(
        self, scene: Scene
    ) -> None:
        job = await self._job(scene, key="k-{{payload.n}}", payload={"n": 1})
        own = [a_request(job, T0 + n) for n in range(2)]
        definition = [a_request(job, T0 + n, payload={"n": 2}) for n in range(2)]
        await scene.run(*own, *definition, now=T0 + 2)
        assert (await scene.store.stats())[State.BLOCKED] == 2
        wider = replace(job, concurrency=Concurrency("k-{{payload.n}}", 2))
        await scene.change(job, edit(wider), T0 + 2)
        assert await scene.states() == [State.QUEUED] * 4

    async def test_through_a_change_of_the_key_what_waits_keeps_its_gate(
        self, scene: Scene
    ) -> None:
        job = await self._job(scene)
        ids = await scene.run(*(a_request(job, T0 + n) for n in range(2)), now=T0 + 2)
        edited = replace(job, concurrency=Concurrency("other", 5))
        await scene.change(job, edit(edited), T0 + 2)
        assert (await scene.execution(ids[1])).state is State.BLOCKED
        await scene.succeed(await scene.claim_one(T0 + 2), T0 + 2)
        assert (await scene.execution(ids[1])).state is State.QUEUED

    async def test_held_runs_give_their_permits_back(self, scene: Scene) -> None:
        job, other = await self._job(scene), await self._job(scene)
        [held] = await scene.run(a_request(job, T0))
        [waiting] = await scene.run(a_request(other, T0 + 1), now=T0 + 1)
        await scene.change(job, pause("ann", "wait"), T0 + 1)
        assert (await scene.execution(waiting)).state is State.QUEUED
        await scene.change(job, resume(), T0 + 2)
        await scene.promote(T0 + 2)
        assert (await scene.execution(held)).state is State.BLOCKED

    async def test_a_promoted_one_is_blocked_while_the_gate_is_full(self, scene: Scene) -> None:
        job = await self._job(scene)
        await scene.run(a_request(job, T0), a_request(job, minute(1)))
        promoted = await scene.promote(minute(1))
        assert (promoted.queued, promoted.blocked) == (0, 1)
