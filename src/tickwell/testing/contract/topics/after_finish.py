"""Jobs whose next fire counts from the end of the last run."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tickwell.domain.change import delete, pause, resume
from tickwell.domain.execution import Claim, OutcomeKind, State
from tickwell.domain.job import Job, JobState
from tickwell.domain.policy import MINUTE
from tickwell.domain.trigger import Every, OnDemand
from tickwell.testing.contract.builders import T0, a_request, minute
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.topic import Topic


class AfterFinish(Topic):
    """Jobs whose next fire counts from the end of the last run."""

    async def _running(self, scene: Scene, **fields: Any) -> tuple[Job, Claim]:
        trigger = Every(timedelta(minutes=1), after="finish")
        job = await scene.job(trigger=trigger, **fields)
        await scene.fire(minute(1))
        return job, await scene.claim_one(minute(1))

    async def test_nothing_is_to_come_while_the_run_is_live(self, scene: Scene) -> None:
        job, _ = await self._running(scene)
        assert (await scene.cursor(job)).next_fire_time is None
        assert (await scene.fire(minute(60))).jobs == 0

    @pytest.mark.parametrize(
        "kind", [OutcomeKind.SUCCEEDED, OutcomeKind.FAILED, OutcomeKind.CANCELLED]
    )
    async def test_it_fires_a_period_after_any_end(self, scene: Scene, kind: OutcomeKind) -> None:
        job, claim = await self._running(scene)
        end = minute(3) + 7
        await scene.finish(claim, kind, end, retry=False)
        await scene.fire(end)
        assert (await scene.cursor(job)).next_fire_time == end + MINUTE
        await scene.fire(end + MINUTE)
        assert (await scene.fire_times(job))[1:] == [end + MINUTE]

    async def test_a_retry_is_no_end(self, scene: Scene) -> None:
        job, claim = await self._running(scene)
        await scene.fail(claim, minute(3))
        await scene.fire(minute(60))
        assert await scene.fire_times(job) == [minute(1)]

    @pytest.mark.parametrize("to", [State.CANCELLED, State.SKIPPED])
    async def test_it_fires_a_period_after_it_was_settled(self, scene: Scene, to: State) -> None:
        trigger = Every(timedelta(minutes=1), after="finish")
        job = await scene.job(trigger=trigger)
        await scene.fire(minute(1))
        [execution] = await scene.executions(job)
        await scene.settle([execution.id], to, minute(3))
        await scene.fire(minute(3))
        assert (await scene.cursor(job)).next_fire_time == minute(4)

    async def test_the_end_of_a_run_wakes_neither_a_paused_nor_a_deleted_job(
        self, scene: Scene
    ) -> None:
        for changer, state in (
            (pause("ann", "wait"), JobState.PAUSED),
            (delete(), JobState.DELETED),
        ):
            job, claim = await self._running(scene)
            await scene.change(job, changer, minute(1))
            await scene.succeed(claim, minute(2))
            cursor = await scene.cursor(job)
            assert (cursor.state, cursor.next_fire_time) == (state, None)

    async def test_resumed_it_counts_from_the_end_that_the_pause_saw(self, scene: Scene) -> None:
        job, claim = await self._running(scene)
        await scene.change(job, pause("ann", "wait"), minute(1))
        await scene.succeed(claim, minute(2))
        await scene.change(job, resume(), minute(2) + 5)
        await scene.fire(minute(2) + 5)
        assert (await scene.cursor(job)).next_fire_time == minute(3)

    async def test_the_last_run_leaves_the_job_finished(self, scene: Scene) -> None:
        trigger = Every(timedelta(minutes=1), after="finish", max_runs=1)
        job = await scene.job(trigger=trigger)
        await scene.fire(minute(1))
        assert (await scene.cursor(job)).state is JobState.FINISHED
        await scene.succeed(await scene.claim_one(minute(1)), minute(2))
        cursor = await scene.cursor(job)
        assert (cursor.state, cursor.next_fire_time) == (JobState.FINISHED, None)

    async def test_a_skipped_run_gives_its_place_back(self, scene: Scene) -> None:
        trigger = Every(timedelta(minutes=1), after="finish", max_runs=1)
        job = await scene.job(trigger=trigger, ttl="1s")
        await scene.fire(minute(1))
        await scene.promote(minute(2))
        await scene.fire(minute(2))
        await scene.fire(minute(3))
        assert await scene.states(job) == [State.SKIPPED, State.QUEUED]
        assert (await scene.cursor(job)).state is JobState.FINISHED

    async def test_a_requested_run_does_not_move_the_next_fire(self, scene: Scene) -> None:
        trigger = Every(timedelta(minutes=5), after="finish")
        job = await scene.job(trigger=trigger)
        await scene.run(a_request(job, T0))
        await scene.succeed(await scene.claim_one(T0), minute(2))
        assert (await scene.cursor(job)).next_fire_time == minute(5)

    async def test_on_demand_nothing_follows(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        await scene.run(a_request(job, T0))
        await scene.succeed(await scene.claim_one(T0), minute(1))
        cursor = await scene.cursor(job)
        assert (cursor.state, cursor.next_fire_time) == (JobState.ACTIVE, None)
