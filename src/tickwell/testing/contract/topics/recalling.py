"""Recalling: what came due while no process was there is planned again, by the policy."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tickwell.clock import to_datetime
from tickwell.domain.absence import Absence
from tickwell.domain.change import Changed, Changer, delete, pause, recall
from tickwell.domain.execution import OutcomeKind, Reason, State
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.job import Job, JobState
from tickwell.domain.planning import plan
from tickwell.domain.policy import MINUTE, Misfire, OnMisfire
from tickwell.domain.trigger import Every, Once
from tickwell.testing.contract.builders import T0, minute
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.snapshot import snapshot
from tickwell.testing.contract.topic import Topic

#: Fires at minutes 1 and 2 are planned ahead, then everything stands still.
AHEAD = 2 * MINUTE


async def planned_ahead(scene: Scene, **fields: Any) -> Job:
    """A job whose next two fires are planned."""
    job = await scene.job(**fields)
    await scene.fire(T0, horizon=AHEAD)
    return job


async def call_back(scene: Scene, job: Job, fires: Sequence[int], now: int) -> Changed:
    """Recall these fires."""
    return await scene.change(job, recall([minute(n) for n in fires]), now)


async def fire_after_absence(scene: Scene, now: int) -> None:
    """Fire as a planner does whose process was away."""
    await scene.store.fire_due(
        now, 0, 1000, lambda job, cursor: plan(job, cursor, now, 0, Absence())
    )


class Recalling(Topic):
    """`change_jobs` with `domain.change.recall`, and the `fire_due` after it."""

    async def test_recalled_fires_are_misfires(self, scene: Scene) -> None:
        job = await planned_ahead(scene, misfire=Misfire(policy=OnMisfire.SKIP))
        changed = await call_back(scene, job, [1, 2], minute(9))
        assert changed.withdrawn == 2
        await scene.fire(minute(9) + 30_000)
        rows = await scene.executions(job)
        assert [(row.state, row.reason) for row in rows] == [(State.SKIPPED, Reason.MISFIRE)] * 2
        # Each fire time is counted once: by its row, or by the range.
        counted = {(skip.first, skip.last): skip.count for skip in await scene.skips(job)}
        assert counted == {(minute(1), minute(2)): 0, (minute(3), minute(9)): 7}
        assert await scene.claim(minute(10)) == []

    async def test_the_policy_arms_the_newest_again(self, scene: Scene) -> None:
        job = await planned_ahead(scene, trigger=Every("1m", until=to_datetime(minute(2))))
        await call_back(scene, job, [1, 2], minute(9))
        await scene.fire(minute(9))
        claim = await scene.claim_one(minute(9))
        assert (claim.fire_time, claim.attempt) == (minute(2), 1)
        assert await scene.fire_times(job, State.SKIPPED) == [minute(1)]
        await scene.succeed(claim, minute(10))
        assert (await scene.at(job, minute(2))).state is State.SUCCEEDED

    async def test_a_fire_that_was_claimed_and_given_back_is_recalled(self, scene: Scene) -> None:
        job = await planned_ahead(scene, trigger=Once(to_datetime(minute(1))))
        claim = await scene.claim_one(minute(1))
        await scene.finish(claim, OutcomeKind.RELEASED, minute(1), started=False)
        assert (await call_back(scene, job, [1], minute(9))).withdrawn == 1
        assert (await scene.cursor(job)).state is JobState.ACTIVE
        await scene.fire(minute(9))
        again = await scene.claim_one(minute(9))
        assert (again.id, again.attempt, again.charged) == (claim.id, 2, 1)

    async def test_what_is_claimed_stays(self, scene: Scene) -> None:
        job = await planned_ahead(scene, overlap=Overlap.ALLOW)
        claim = await scene.claim_one(minute(1))
        assert (await call_back(scene, job, [1, 2], minute(9))).withdrawn == 1
        await scene.fire(minute(9))
        assert not (await scene.succeed(claim, minute(9))).refused
        assert (await scene.execution(claim)).state is State.SUCCEEDED

    async def test_what_ran_in_between_is_counted_by_no_range(self, scene: Scene) -> None:
        skip = Misfire(policy=OnMisfire.SKIP)
        job = await planned_ahead(scene, overlap=Overlap.ALLOW, misfire=skip)
        first, second = await scene.claim(minute(2), limit=2)
        await scene.finish(first, OutcomeKind.RELEASED, minute(2), started=False)
        await scene.succeed(second, minute(2))
        assert (await call_back(scene, job, [1], minute(9))).withdrawn == 1
        await scene.fire(minute(9) + 30_000)
        assert sum(skip.count for skip in await scene.skips(job)) == 7
        assert (await scene.execution(second)).state is State.SUCCEEDED

    async def test_what_was_tried_meanwhile_stays(self, scene: Scene) -> None:
        job = await planned_ahead(scene, trigger=Once(to_datetime(minute(1))))
        claim = await scene.claim_one(minute(1))
        await scene.fail(claim, minute(1))
        assert (await call_back(scene, job, [1], minute(9))).withdrawn == 0
        assert (await scene.execution(claim)).state is State.WAITING

    async def test_what_was_armed_again_stays(self, scene: Scene) -> None:
        job = await planned_ahead(scene)
        await call_back(scene, job, [1, 2], minute(2))
        await fire_after_absence(scene, minute(2))
        armed = await scene.fire_times(job, State.QUEUED, State.BLOCKED)
        assert armed[-1:] == [minute(2)]
        assert (await call_back(scene, job, [1, 2], minute(2) + 1)).withdrawn == 0
        await scene.fire(minute(2) + 1)  # as a planner does whose process was there
        assert await scene.fire_times(job, State.QUEUED, State.BLOCKED) == armed

    async def test_other_fires_stay_in_line(self, scene: Scene) -> None:
        job = await planned_ahead(scene, overlap=Overlap.QUEUE_ALL)
        await scene.promote(minute(2))
        assert (await call_back(scene, job, [1], minute(2))).withdrawn == 1
        claim = await scene.claim_one(minute(2))
        assert claim.fire_time == minute(2)

    async def test_places_in_concurrency_gates_go_to_the_next(self, scene: Scene) -> None:
        limit = Concurrency("k", 1)
        job = await planned_ahead(scene, concurrency=limit, trigger=Once(to_datetime(minute(1))))
        other = await planned_ahead(scene, concurrency=limit, trigger=Once(to_datetime(minute(2))))
        await call_back(scene, job, [1], minute(2))
        claim = await scene.claim_one(minute(2))
        assert claim.job.id == other.id

    async def test_a_recalled_fire_does_not_count(self, scene: Scene) -> None:
        trigger = Every("1m", max_runs=2)
        skip = Misfire(policy=OnMisfire.SKIP)
        job = await planned_ahead(scene, trigger=trigger, misfire=skip, overlap=Overlap.ALLOW)
        assert (await scene.cursor(job)).runs == 2
        await call_back(scene, job, [1, 2], minute(9) + 30_000)
        assert (await scene.cursor(job)).runs == 0
        await scene.fire(minute(9) + 30_000, horizon=AHEAD)
        assert await scene.fire_times(job, State.WAITING, State.QUEUED) == [minute(10), minute(11)]
        assert (await scene.cursor(job)).state is JobState.FINISHED

    @pytest.mark.parametrize("overlap", [Overlap.SKIP, Overlap.QUEUE_ONE])
    async def test_fires_within_the_grace_wait_for_each_other(
        self, scene: Scene, overlap: Overlap
    ) -> None:
        grace = Misfire(policy=OnMisfire.SKIP, grace="1h")
        job = await planned_ahead(scene, overlap=overlap, misfire=grace)
        now = minute(4)
        await call_back(scene, job, [1, 2], now)
        await fire_after_absence(scene, now)
        for number in range(1, 5):
            claim = await scene.claim_one(now)
            assert claim.fire_time == minute(number)
            await scene.succeed(claim, now)
        assert await scene.fire_times(job, State.SKIPPED) == []

    @pytest.mark.parametrize("changer", [pause(by="ann", why="holiday"), delete()])
    async def test_a_job_that_is_paused_or_deleted_stays_as_it_is(
        self, scene: Scene, changer: Changer
    ) -> None:
        job = await planned_ahead(scene)
        await scene.change(job, changer, T0)
        before = await scene.cursor(job)
        assert (await call_back(scene, job, [1, 2], minute(9))).entry.cursor == before

    async def test_recalling_twice_is_recalling_once(self, scene: Scene) -> None:
        job = await planned_ahead(scene)
        await call_back(scene, job, [1, 2], minute(9))
        once = await snapshot(scene.store, minute(9))
        assert (await call_back(scene, job, [1, 2], minute(9))).withdrawn == 0
        assert await snapshot(scene.store, minute(9)) == once

    async def test_what_was_planned_again_is_not_recalled_again(self, scene: Scene) -> None:
        """Two processes come back from one absence; the second is slow to say what it found."""
        job = await planned_ahead(scene, misfire=Misfire(policy=OnMisfire.SKIP))
        await call_back(scene, job, [1, 2], minute(9))
        await scene.fire(minute(9) + 30_000)
        planned = await snapshot(scene.store, minute(9))
        assert (await call_back(scene, job, [1, 2], minute(10))).withdrawn == 0
        assert await snapshot(scene.store, minute(9)) == planned

    async def test_what_was_planned_ahead_is_not_counted_as_missed(self, scene: Scene) -> None:
        skip = Misfire(policy=OnMisfire.SKIP, grace="0s")
        job = await planned_ahead(scene, misfire=skip, overlap=Overlap.ALLOW)
        await call_back(scene, job, [1], minute(1) + 1)
        await scene.fire(minute(4) + 1)  # too late for minute 2, which has its row
        counted = {(skip.first, skip.last): skip.count for skip in await scene.skips(job)}
        assert [at for at, count in counted.items() if count] == [(minute(3), minute(4))]
        # It can still be recalled.
        assert (await call_back(scene, job, [2], minute(5))).withdrawn == 1
