"""Editing: what a new definition does to executions in the same write."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from dataclasses import replace

from tickwell.domain.change import edit
from tickwell.domain.execution import Claim, OutcomeKind, Reason, State
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Job
from tickwell.domain.policy import MINUTE, SECOND
from tickwell.domain.target import Call
from tickwell.domain.trigger import Every, OnDemand
from tickwell.testing.contract.builders import T0, a_request, minute
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.topic import Topic

#: Two seconds before the first fire, and fired ahead.
AHEAD = minute(1) - 2 * SECOND


class Editing(Topic):
    """What an edit does to executions."""

    async def test_fires_to_come_are_withdrawn_and_planned_anew(self, scene: Scene) -> None:
        job = await scene.job(trigger=Every("30s"), overlap=Overlap.ALLOW)
        await scene.fire(minute(1) - SECOND, horizon=SECOND)
        edited = replace(job, trigger=Every("1m"), target=Call("other"))
        changed = await scene.change(job, edit(edited), minute(1) - SECOND)
        assert (changed.withdrawn, changed.cancelling) == (1, 0)
        slot = await scene.at(job, minute(1))
        assert (slot.state, slot.reason) == (State.SKIPPED, Reason.WITHDRAWN)
        await scene.fire(minute(1))
        slot = await scene.at(job, minute(1))
        assert (slot.state, slot.job_version, slot.ability) == (State.QUEUED, 2, "call:other")

    async def test_the_rest_goes_on_by_the_new_definition(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        [id] = await scene.run(a_request(job, T0))
        edited = replace(job, target=Call("other"), queue="slow", priority=9, payload=7)
        changed = await scene.change(job, edit(edited), T0 + 1)
        assert (changed.withdrawn, changed.cancelling) == (0, 0)
        kept = await scene.execution(id)
        assert (kept.state, kept.job_version) == (State.QUEUED, 2)
        assert (kept.queue, kept.ability) == ("slow", "call:other")
        assert await scene.claim(T0 + 1) == []
        assert await scene.claim(T0 + 1, queues=("slow",)) == []
        able = frozenset({"call:other"})
        claim = await scene.claim_one(T0 + 1, queues=("slow",), abilities=able)
        assert (claim.job.version, claim.payload) == (2, 7)

    async def test_the_new_priority_counts_for_what_is_queued(self, scene: Scene) -> None:
        job, other = await scene.job(trigger=OnDemand()), await scene.job(trigger=OnDemand())
        ids = await scene.run(a_request(other, T0), a_request(job, T0 + 1), now=T0 + 1)
        await scene.change(job, edit(replace(job, priority=10)), T0 + 1)
        claims = await scene.claim(T0 + 1)
        assert [claim.id for claim in claims] == [ids[1], ids[0]]

    async def test_a_due_fire_is_kept(self, scene: Scene) -> None:
        job = await scene.job()
        await scene.fire(minute(1))
        await scene.change(job, edit(job), minute(1))
        slot = await scene.at(job, minute(1))
        assert (slot.state, slot.job_version) == (State.QUEUED, 2)

    async def test_a_permit_set_free_by_withdrawing_passes_on(self, scene: Scene) -> None:
        job = await scene.job(overlap=Overlap.QUEUE_ALL)
        await scene.fire(AHEAD, horizon=2 * SECOND)
        polite = a_request(job, AHEAD, overlap=Overlap.QUEUE_ALL)
        [id] = await scene.run(polite, now=AHEAD)
        assert (await scene.execution(id)).state is State.BLOCKED
        await scene.change(job, edit(job), AHEAD)
        assert (await scene.execution(id)).state is State.QUEUED

    async def _held_for_its_instant(self, scene: Scene) -> tuple[Job, Claim]:
        job = await scene.job()
        await scene.fire(AHEAD, horizon=2 * SECOND)
        return job, await scene.claim_one(AHEAD, lead=2 * SECOND)

    async def test_what_is_held_for_its_instant_is_asked_to_give_up(self, scene: Scene) -> None:
        job, claim = await self._held_for_its_instant(scene)
        changed = await scene.change(job, edit(replace(job, trigger=Every("7m"))), AHEAD + 1)
        assert (changed.withdrawn, changed.cancelling) == (0, 1)
        [owned] = (await scene.beat("w1")).owned
        assert owned.cancel
        await scene.finish(claim, OutcomeKind.CANCELLED, AHEAD + 5, started=False)
        slot = await scene.execution(claim)
        assert (slot.state, slot.reason) == (State.SKIPPED, Reason.WITHDRAWN)

    async def test_given_up_it_waits_again_if_the_new_definition_fires_then(
        self, scene: Scene
    ) -> None:
        job, claim = await self._held_for_its_instant(scene)
        await scene.change(job, edit(replace(job, payload="new")), AHEAD + 1)
        await scene.finish(claim, OutcomeKind.CANCELLED, AHEAD + 5, started=False)
        slot = await scene.execution(claim)
        assert (slot.state, slot.run_at, slot.job_version) == (State.WAITING, minute(1), 2)
        assert (slot.charged, slot.cancel_requested) == (0, False)
        await scene.fire(minute(1))
        await scene.promote(minute(1))
        again = await scene.claim_one(minute(1))
        assert (again.id, again.attempt, again.payload) == (claim.id, 2, "new")
        assert (again.charged, len(await scene.executions(job))) == (1, 1)

    async def test_one_that_started_all_the_same_counts(self, scene: Scene) -> None:
        job, claim = await self._held_for_its_instant(scene)
        await scene.change(job, edit(job), AHEAD + 1)
        await scene.succeed(claim, minute(1) + 1)
        assert (await scene.execution(claim)).state is State.SUCCEEDED

    async def test_one_that_had_started_when_it_gave_up_is_cancelled(self, scene: Scene) -> None:
        job, claim = await self._held_for_its_instant(scene)
        await scene.change(job, edit(job), AHEAD + 1)
        await scene.finish(claim, OutcomeKind.CANCELLED, minute(1) + 1)
        assert (await scene.execution(claim)).state is State.CANCELLED

    async def test_moved_to_another_queue_it_is_in_the_old_one_no_more(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        await scene.run(a_request(job, T0))
        await scene.change(job, edit(replace(job, queue="slow")), T0)
        assert await scene.claim(T0) == []
        assert (await scene.store.next_wakeup(T0 - 1, ["default"])).run is None
        assert (await scene.store.next_wakeup(T0 - 1, ["slow"])).run == T0
        assert len(await scene.claim(T0, queues=("default", "slow"))) == 1

    async def test_what_is_running_is_left_alone(self, scene: Scene) -> None:
        job = await scene.job()
        await scene.fire(minute(1))
        claim = await scene.claim_one(minute(1))
        changed = await scene.change(job, edit(job), minute(1))
        assert changed.cancelling == 0
        assert (await scene.execution(claim)).job_version == 1

    async def test_a_retry_held_for_its_instant_is_left_alone(self, scene: Scene) -> None:
        job = await scene.job()
        await scene.fire(minute(1))
        claim = await scene.claim_one(minute(1))
        await scene.finish(claim, OutcomeKind.SNOOZED, minute(1), delay=MINUTE)
        await scene.promote(minute(2) - SECOND, horizon=SECOND)
        await scene.claim_one(minute(2) - SECOND, lead=SECOND)
        changed = await scene.change(job, edit(job), minute(2) - SECOND)
        assert changed.cancelling == 0
