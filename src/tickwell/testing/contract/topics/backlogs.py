"""Missed fire times that are held: kept with the job, and each answered exactly once."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tickwell.clock import NEVER, to_datetime
from tickwell.domain.backlog import BacklogAnswer, BacklogGate, FireRange
from tickwell.domain.change import answer_held, delete, edit, pause, recall, resume, skip
from tickwell.domain.execution import Reason, State
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Job, JobState
from tickwell.domain.planning import Plan, plan
from tickwell.domain.policy import HOUR, Misfire, OnMisfire
from tickwell.domain.trigger import Every, Once
from tickwell.ports.records import Fired
from tickwell.testing.contract.builders import T0, minute
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.topic import Topic

ALL = Misfire(policy=OnMisfire.ALL)
#: Minute 60, when a planner is back: fires 1 to 59 were missed, and 60 is on time.
BACK = minute(60)
GATE = BacklogGate(job=10, room=NEVER, wait=HOUR, answer=BacklogAnswer.LATEST)


class Backlogs(Topic):
    """What the gate does not admit waits on the job's record, and its later fires run."""

    async def test_what_is_held_is_one_range_and_later_fires_run(self, scene: Scene) -> None:
        job = await _held(scene)
        backlog = (await scene.cursor(job)).backlog
        assert backlog is not None
        assert backlog.ranges == (FireRange(minute(1), minute(59), 59),)
        assert (backlog.since, backlog.until) == (BACK, BACK + HOUR)
        await _fire(scene, minute(61))
        assert await scene.fire_times(job) == [minute(60), minute(61)]
        assert await scene.skips(job) == []
        assert (await scene.cursor(job)).backlog == backlog

    async def test_what_the_gate_admits_runs_at_once(self, scene: Scene) -> None:
        job = await scene.job(misfire=ALL)
        await _fire(scene, minute(10))
        assert await scene.fire_times(job) == [minute(each) for each in range(1, 11)]
        assert (await scene.cursor(job)).backlog is None

    async def test_what_is_beyond_the_policy_is_a_misfire_all_the_same(self, scene: Scene) -> None:
        job = await _held(scene, misfire=Misfire(policy=OnMisfire.ALL, cap=20))
        assert (await scene.cursor(job)).backlog.ranges == (  # type: ignore[union-attr]
            FireRange(minute(40), minute(59), 20),
        )
        assert await _told(scene, job) == [(minute(1), minute(39), 39, Reason.MISFIRE)]

    async def test_a_plan_that_leaves_a_job_as_it_was_is_made_again(self, scene: Scene) -> None:
        job = await scene.job(misfire=ALL)
        before = await scene.cursor(job)
        fired = await scene.store.fire_due(
            BACK, 0, 1000, lambda _, cursor: Plan(cursor, more=True), round_robin=False
        )
        assert fired.more
        assert await scene.cursor(job) == before
        assert await scene.executions(job) == []
        await _fire(scene, BACK)
        assert (await scene.cursor(job)).backlog is not None

    async def test_skipped_none_of_them_runs(self, scene: Scene) -> None:
        job = await _held(scene)
        await scene.change(job, answer_held(BacklogAnswer.SKIP), BACK + 1)
        assert await _told(scene, job) == [(minute(1), minute(59), 59, Reason.BACKLOG)]
        await _fire(scene, minute(61))
        assert await scene.fire_times(job) == [minute(60), minute(61)]
        assert (await scene.cursor(job)).backlog is None

    async def test_the_latest_runs_and_the_others_are_skipped(self, scene: Scene) -> None:
        job = await _held(scene, overlap=Overlap.ALLOW)
        await scene.change(job, answer_held(BacklogAnswer.LATEST), BACK + 1)
        assert await scene.fire_times(job, State.QUEUED) == [minute(59), minute(60)]
        assert await _told(scene, job) == [(minute(1), minute(58), 58, Reason.BACKLOG)]
        assert (await scene.cursor(job)).runs == 2

    async def test_all_of_them_run_at_their_rate(self, scene: Scene) -> None:
        job = await _held(scene, overlap=Overlap.ALLOW)
        starts = {job.id: BACK + 5_000}
        await scene.change(job, answer_held(BacklogAnswer.ALL, starts, 100), BACK + 1)
        rows = sorted(await scene.executions(job), key=lambda row: row.fire_time)
        assert [row.fire_time for row in rows] == [minute(each) for each in range(1, 61)]
        assert [row.run_at for row in rows[:59]] == [BACK + 5_000 + 100 * n for n in range(59)]
        await scene.promote(BACK + 5_100)
        claims = await scene.claim(BACK + 5_100, limit=100)
        assert {claim.fire_time for claim in claims} == {minute(1), minute(2), minute(60)}
        assert await scene.skips(job) == []

    async def test_runs_that_may_not_overlap_wait_for_each_other(self, scene: Scene) -> None:
        job = await _held(scene, overlap=Overlap.SKIP)
        await scene.change(job, answer_held(BacklogAnswer.ALL), BACK + 1)
        ran = []
        for _ in range(60):
            await scene.promote(BACK + 2)
            claim = await scene.claim_one(BACK + 2)
            ran.append(claim.fire_time)
            await scene.succeed(claim, BACK + 2)
        assert sorted(ran) == [minute(each) for each in range(1, 61)]
        assert await _told(scene, job) == []

    async def test_what_a_person_skipped_is_in_no_range_and_does_not_run(
        self, scene: Scene
    ) -> None:
        job = await scene.job(misfire=ALL)
        await scene.change(job, skip(minute(30)), T0)
        await _fire(scene, BACK)
        backlog = (await scene.cursor(job)).backlog
        assert backlog is not None
        assert backlog.ranges == (
            FireRange(minute(1), minute(29), 29),
            FireRange(minute(31), minute(59), 29),
        )
        await scene.change(job, answer_held(BacklogAnswer.ALL), BACK + 1)
        assert minute(30) not in await scene.fire_times(job)
        assert len(await scene.fire_times(job)) == 59
        assert await _told(scene, job) == [(minute(30), minute(30), 1, Reason.BY_PERSON)]

    async def test_a_second_answer_changes_nothing(self, scene: Scene) -> None:
        job = await _held(scene)
        await scene.change(job, answer_held(BacklogAnswer.SKIP), BACK + 1)
        before = await scene.cursor(job)
        await scene.change(job, answer_held(BacklogAnswer.ALL), BACK + 2)
        assert await scene.cursor(job) == before
        assert await scene.fire_times(job) == [minute(60)]

    async def test_unanswered_the_configured_answer_applies_once(self, scene: Scene) -> None:
        job = await _held(scene, trigger=Every("1m", until=to_datetime(minute(61))))
        await _fire(scene, minute(61))
        assert (await scene.cursor(job)).next_fire_time == BACK + HOUR
        await _fire(scene, BACK + HOUR)
        assert await scene.fire_times(job) == [minute(59), minute(60), minute(61)]
        assert await _told(scene, job) == [(minute(1), minute(58), 58, Reason.BACKLOG)]
        cursor = await scene.cursor(job)
        assert (cursor.state, cursor.backlog) == (JobState.FINISHED, None)

    async def test_a_job_with_nothing_else_to_come_is_not_over_while_it_holds(
        self, scene: Scene
    ) -> None:
        job = await scene.job(trigger=Once(to_datetime(minute(1))), auto_remove=True)
        await _fire(scene, BACK, room=0)
        assert (await scene.cursor(job)).state is JobState.ACTIVE
        await scene.change(job, answer_held(BacklogAnswer.LATEST), BACK + 1)
        await _fire(scene, BACK + 2, room=0)
        assert await scene.fire_times(job) == [minute(1)]
        assert (await scene.cursor(job)).state is JobState.FINISHED

    async def test_a_paused_job_holds_them_until_it_is_resumed(self, scene: Scene) -> None:
        job = await _held(scene)
        backlog = (await scene.cursor(job)).backlog
        await scene.change(job, pause("ann", "wait"), BACK + 1)
        await scene.change(job, answer_held(BacklogAnswer.ALL), BACK + 2)
        assert (await scene.cursor(job)).backlog == backlog
        await scene.change(job, resume(), BACK + 3)
        assert (await scene.cursor(job)).backlog == backlog
        await scene.change(job, answer_held(BacklogAnswer.ALL), BACK + 4)
        assert len(await scene.fire_times(job)) == 60
        assert await _told(scene, job) == []

    async def test_an_edit_keeps_them_with_the_same_trigger_only(self, scene: Scene) -> None:
        job = await _held(scene)
        await scene.change(job, edit(job), BACK + 1)
        kept = await scene.cursor(job)
        assert kept.backlog is not None
        assert kept.backlog.count == 59
        await scene.change(job, edit(replace(job, trigger=Every("7m"))), BACK + 2)
        assert (await scene.cursor(job)).backlog is None
        assert await _told(scene, job) == [(minute(1), minute(59), 59, Reason.BACKLOG)]

    async def test_a_deletion_answers_them(self, scene: Scene) -> None:
        job = await _held(scene)
        await scene.change(job, delete(), BACK + 1)
        assert await _told(scene, job) == [(minute(1), minute(59), 59, Reason.BACKLOG)]

    async def test_a_further_outage_holds_no_more_than_the_policy_runs(self, scene: Scene) -> None:
        job = await _held(scene, misfire=Misfire(policy=OnMisfire.ALL, cap=70))
        await _fire(scene, minute(80))
        backlog = (await scene.cursor(job)).backlog
        assert backlog is not None
        assert backlog.ranges == (FireRange(minute(61), minute(79), 19),)
        assert await _told(scene, job) == [(minute(1), minute(59), 59, Reason.BACKLOG)]
        assert backlog.until == BACK + HOUR

    async def test_fires_that_were_recalled_are_held_and_answered_once(self, scene: Scene) -> None:
        job = await scene.job(misfire=ALL, overlap=Overlap.ALLOW)
        await _fire(scene, T0, horizon=minute(2) - T0)
        await scene.change(job, recall([minute(1), minute(2)]), BACK)
        await _fire(scene, BACK)
        backlog = (await scene.cursor(job)).backlog
        assert backlog is not None
        assert backlog.ranges == (FireRange(minute(1), minute(59), 59),)
        await scene.change(job, answer_held(BacklogAnswer.ALL), BACK + 1)
        rows = await scene.executions(job)
        assert sorted(row.fire_time for row in rows) == [minute(each) for each in range(1, 61)]
        assert not any(row.state is State.SKIPPED for row in rows)


async def _held(scene: Scene, **fields: Any) -> Job:
    job = await scene.job(**{"misfire": ALL, **fields})
    await _fire(scene, BACK)
    assert await scene.fire_times(job) == [BACK]
    return job


async def _fire(
    scene: Scene, now: int, *, horizon: int = 0, room: int = NEVER, limit: int = 1000
) -> Fired:
    gate = BacklogGate(job=GATE.job, room=room, wait=GATE.wait, answer=GATE.answer)
    return await scene.store.fire_due(
        now, horizon, limit, lambda job, cursor: plan(job, cursor, now, horizon, gate=gate)
    )


async def _told(scene: Scene, job: Job) -> list[tuple[int, int, int, Reason]]:
    """The ranges that count something."""
    skips = await scene.skips(job)
    return sorted((one.first, one.last, one.count, one.reason) for one in skips if one.count)
