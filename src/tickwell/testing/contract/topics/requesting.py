"""Runs that people ask for, and slots of the past."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

import pytest

from tickwell.domain.change import delete
from tickwell.domain.execution import Kind, OutcomeKind, Reason, State
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Job, JobState
from tickwell.domain.policy import MINUTE
from tickwell.domain.trigger import Every, OnDemand
from tickwell.errors import NotFound
from tickwell.testing.contract.builders import T0, a_backfill, a_job, a_request, minute
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.snapshot import snapshot
from tickwell.testing.contract.topic import Topic


class Requesting(Topic):
    """`add_executions`."""

    async def test_a_requested_run_is_recorded_as_asked(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        run = a_request(job, T0, payload={"n": 1}, key="k1")
        run.revived_from = "old"
        assert await scene.run(run) == [run.id]
        execution = await scene.execution(run.id)
        assert (execution.kind, execution.state) == (Kind.REQUEST, State.QUEUED)
        assert (execution.payload, execution.key) == ({"n": 1}, "k1")
        assert execution.revived_from == "old"
        assert execution.fire_time == execution.run_at == T0

    async def test_the_same_id_again_is_the_same_run(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        run = a_request(job, T0)
        await scene.run(run)
        before = await snapshot(scene.store, T0)
        assert await scene.run(run, run) == [run.id, run.id]
        assert await snapshot(scene.store, T0) == before

    async def test_a_known_key_answers_with_its_run(self, scene: Scene) -> None:
        job, other = await scene.job(trigger=OnDemand()), await scene.job(trigger=OnDemand())
        [first] = await scene.run(a_request(job, T0, key="k"))
        mixed = await scene.run(
            a_request(job, T0 + 1, key="k"), a_request(other, T0 + 1, key="k"), now=T0 + 1
        )
        assert mixed[0] == first != mixed[1]
        assert len(await scene.executions()) == 2

    async def test_a_key_counts_within_one_batch(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        first, second = await scene.run(a_request(job, T0, key="k"), a_request(job, T0, key="k"))
        assert first == second
        assert len(await scene.executions()) == 1

    async def test_deleted_and_unknown_jobs_are_not_found_and_nothing_is_added(
        self, scene: Scene
    ) -> None:
        good, gone = await scene.job(trigger=OnDemand()), await scene.job(trigger=OnDemand())
        await scene.change(gone, delete(), T0)
        for bad in (gone, a_job()):
            with pytest.raises(NotFound):
                await scene.run(a_request(good, T0), a_request(bad, T0))
        assert await scene.executions() == []

    async def test_within_the_horizon_it_is_queued_at_once(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        [near] = await scene.run(a_request(job, T0 + 2000), horizon=2000)
        [far] = await scene.run(a_request(job, T0 + 2001), horizon=2000)
        assert (await scene.execution(near)).state is State.QUEUED
        assert (await scene.execution(far)).state is State.WAITING


class Backfilling(Topic):
    """Slots of the past."""

    async def _skipped(self, scene: Scene) -> Job:
        """A job whose second fire was skipped while the first ran."""
        job = await scene.job()
        await scene.fire(minute(1))
        claim = await scene.claim_one(minute(1))
        await scene.fire(minute(2))
        await scene.succeed(claim, minute(2))
        return job

    async def test_a_skipped_slot_is_armed_under_its_own_id(self, scene: Scene) -> None:
        job = await self._skipped(scene)
        slot = await scene.at(job, minute(2))
        assert (slot.state, slot.reason) == (State.SKIPPED, Reason.OVERLAP)
        assert await scene.run(a_backfill(job, minute(2)), now=minute(5)) == [slot.id]
        armed = await scene.execution(slot.id)
        assert (armed.state, armed.reason, armed.ended_at) == (State.QUEUED, None, None)
        assert (armed.fire_time, armed.created_at) == (minute(2), minute(2))
        assert (await scene.claim_one(minute(5))).attempt == 1

    async def test_one_that_ran_is_left_alone(self, scene: Scene) -> None:
        job = await self._skipped(scene)
        before = await scene.at(job, minute(1))
        await scene.run(a_backfill(job, minute(1)), now=minute(5))
        assert await scene.at(job, minute(1)) == before

    async def test_a_slot_without_a_record_gets_one(self, scene: Scene) -> None:
        job = await scene.job()
        await scene.run(a_backfill(job, minute(-5)))
        slot = await scene.at(job, minute(-5))
        assert (slot.kind, slot.state) == (Kind.FIRE, State.QUEUED)
        assert (await scene.cursor(job)).runs == 0

    async def test_several_slots_run_in_turn_whatever_is_on_record_of_them(
        self, scene: Scene
    ) -> None:
        job = await self._skipped(scene)
        minutes = (-2, 2, -1, 1)
        slots = [a_backfill(job, minute(n), overlap=Overlap.QUEUE_ALL) for n in minutes]
        answered = await scene.run(*slots, now=minute(5))
        assert answered == [slot.id for slot in slots]
        states = [(await scene.at(job, minute(n))).state for n in minutes]
        assert states == [State.QUEUED, State.BLOCKED, State.BLOCKED, State.SUCCEEDED]
        assert (await scene.store.stats())[State.SKIPPED] == 0
        ran = []
        for _ in minutes[:-1]:
            claim = await scene.claim_one(minute(5))
            ran.append(claim.fire_time)
            await scene.succeed(claim, minute(5))
        assert ran == [minute(-2), minute(-1), minute(2)]

    async def test_slots_backfilled_together_are_all_counted(self, scene: Scene) -> None:
        trigger = Every("1m", max_runs=3)
        job = await scene.job(trigger=trigger, overlap=Overlap.QUEUE_ALL)
        other = await scene.job(overlap=Overlap.QUEUE_ALL)
        new = [a_backfill(one, minute(-n)) for n in (3, 2) for one in (job, other)]
        await scene.run(*new)
        assert [(await scene.cursor(one)).runs for one in (job, other)] == [2, 0]
        await scene.fire(minute(9))
        assert len(await scene.executions(job)) == 3
        assert (await scene.cursor(job)).state is JobState.FINISHED

    async def test_backfilling_again_does_nothing(self, scene: Scene) -> None:
        job = await self._skipped(scene)
        await scene.run(a_backfill(job, minute(2)), now=minute(5))
        before = await snapshot(scene.store, minute(5))
        await scene.run(a_backfill(job, minute(2)), now=minute(5))
        assert await snapshot(scene.store, minute(5)) == before

    async def test_the_attempt_number_goes_on(self, scene: Scene) -> None:
        job = await scene.job()
        await scene.fire(minute(1))
        claim = await scene.claim_one(minute(1))
        await scene.finish(claim, OutcomeKind.SNOOZED, minute(1), delay=MINUTE)
        await scene.settle([claim.id], State.SKIPPED, minute(1))
        await scene.run(a_backfill(job, minute(1)), now=minute(2))
        again = await scene.claim_one(minute(2))
        assert (again.id, again.attempt, again.charged) == (claim.id, 2, 1)
        assert len((await scene.succeed(claim, minute(2))).refused) == 1
        await scene.succeed(again, minute(3))
        assert [one.number for one in (await scene.execution(claim)).attempts] == [1, 2]

    async def test_a_backfilled_fire_counts_as_a_run(self, scene: Scene) -> None:
        trigger = Every("1m", max_runs=2)
        job = await scene.job(trigger=trigger, overlap=Overlap.ALLOW)
        await scene.run(a_backfill(job, minute(-1)))
        assert (await scene.cursor(job)).runs == 1
        await scene.run(a_backfill(job, minute(-1)))
        assert (await scene.cursor(job)).runs == 1
        await scene.fire(minute(1))
        await scene.fire(minute(9))
        assert await scene.fire_times(job) == [minute(-1), minute(1)]
        assert (await scene.cursor(job)).state is JobState.FINISHED
