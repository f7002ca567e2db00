"""The limit on runs: executions count, skips do not."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from tickwell.domain.change import edit
from tickwell.domain.execution import State
from tickwell.domain.gate import Overlap
from tickwell.domain.job import JobState
from tickwell.domain.policy import SECOND
from tickwell.domain.trigger import Every
from tickwell.testing.contract.builders import T0, a_job, a_request, minute
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.topic import Topic


class MaxRuns(Topic):
    """`max_runs` counts executions, not skips."""

    async def test_a_skipped_fire_gives_its_place_back(self, scene: Scene) -> None:
        job = await scene.job(trigger=Every("1m", max_runs=2))
        await scene.fire(minute(1))
        claim = await scene.claim_one(minute(1))
        await scene.fire(minute(2))
        assert await scene.states(job) == [State.RUNNING, State.SKIPPED]
        cursor = await scene.cursor(job)
        assert (cursor.state, cursor.runs) == (JobState.ACTIVE, 1)
        await scene.succeed(claim, minute(2) + 1)
        await scene.fire(minute(3))
        assert await scene.fire_times(job, State.QUEUED) == [minute(3)]
        assert (await scene.cursor(job)).state is JobState.FINISHED
        await scene.fire(minute(9))
        assert len(await scene.executions(job)) == 3

    async def test_one_that_outlives_its_time_gives_its_place_back(self, scene: Scene) -> None:
        trigger = Every("1m", max_runs=1)
        job = await scene.job(trigger=trigger, ttl="1s", overlap=Overlap.ALLOW)
        await scene.fire(minute(1))
        assert (await scene.cursor(job)).state is JobState.FINISHED
        await scene.promote(minute(1) + SECOND)
        await scene.fire(minute(2))
        assert await scene.states(job) == [State.SKIPPED, State.QUEUED]
        assert (await scene.cursor(job)).state is JobState.FINISHED

    async def test_what_was_cancelled_or_died_counts(self, scene: Scene) -> None:
        job = await scene.job(trigger=Every("1m", max_runs=2), overlap=Overlap.ALLOW)
        await scene.fire(minute(1))
        await scene.fail(await scene.claim_one(minute(1)), minute(1), retry=False)
        await scene.fire(minute(2))
        await scene.settle([(await scene.at(job, minute(2))).id], State.CANCELLED, minute(2))
        await scene.fire(minute(9))
        assert await scene.states(job) == [State.DEAD, State.CANCELLED]
        assert (await scene.cursor(job)).state is JobState.FINISHED

    async def test_requested_runs_do_not_count(self, scene: Scene) -> None:
        job = await scene.job(trigger=Every("1m", max_runs=1))
        await scene.run(a_request(job, T0))
        await scene.fire(minute(1))
        assert await scene.fire_times(job) == [T0, minute(1)]

    async def test_a_withdrawn_one_gives_its_place_back(self, scene: Scene) -> None:
        job = await scene.job(trigger=Every("1m", max_runs=1))
        ahead = minute(1) - 2000
        await scene.fire(ahead, horizon=2000)
        edited = a_job(job.name, trigger=Every("2m", max_runs=1))
        await scene.change(job, edit(edited), ahead)
        assert (await scene.cursor(job)).runs == 0
        await scene.fire(minute(2))
        assert await scene.fire_times(job, State.QUEUED) == [minute(2)]
        assert (await scene.cursor(job)).state is JobState.FINISHED
