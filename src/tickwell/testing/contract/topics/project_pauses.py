"""Pauses of a project and of everything: every job follows one record."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from dataclasses import replace

import pytest

from tickwell.domain.change import pause, resume
from tickwell.domain.execution import OutcomeKind, RangeSkip, Reason, State
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Job, JobState, Pause, PauseScope
from tickwell.domain.planning import HELD_FOR, plan
from tickwell.domain.policy import MINUTE, SECOND
from tickwell.domain.project_pause import (
    EVERYTHING,
    SETTLES,
    Phase,
    ProjectPause,
    covering,
    scope_of,
)
from tickwell.domain.trigger import OnDemand
from tickwell.engine.planning.project_pauses import (
    Aligned,
    complete,
    follow,
    read_pauses,
    write_pause,
)
from tickwell.testing.clock import ManualClock
from tickwell.testing.contract.builders import T0, a_job, a_request, minute
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.topic import Topic

#: Two seconds before the first fire, and fired ahead.
AHEAD = minute(1) - 2 * SECOND


class ProjectPauses(Topic):
    """What pauses of the project do to jobs and their executions."""

    async def test_all_jobs_of_the_project_are_paused_and_resumed_and_no_other(
        self, scene: Scene
    ) -> None:
        here = [await scene.job(), await scene.job(trigger=OnDemand())]
        other = await scene.job(project="other")
        await _pause(scene, "default", T0 + 1)
        for job in here:
            cursor = await scene.cursor(job)
            assert (cursor.state, cursor.next_fire_time) == (JobState.PAUSED, None)
            assert cursor.pause == _note("default", T0 + 1)
        assert (await scene.cursor(other)).state is JobState.ACTIVE
        await scene.fire(minute(3))
        assert await scene.fire_times(here[0]) == []
        await _resume(scene, "default", minute(3))
        await scene.fire(minute(3))
        assert await scene.skips(here[0]) == [_range(here[0], minute(1), minute(3), 3)]
        await scene.fire(minute(4))
        assert await scene.fire_times(here[0]) == [minute(4)]

    async def test_a_projects_fires_are_withdrawn_and_its_retries_and_requests_held(
        self, scene: Scene
    ) -> None:
        job = await scene.job(overlap=Overlap.ALLOW)
        await scene.fire(minute(1))
        claim = await scene.claim_one(minute(1))
        await scene.finish(claim, OutcomeKind.SNOOZED, minute(1), delay=MINUTE)
        [request] = await scene.run(a_request(job, minute(2)), now=minute(2))
        await scene.fire(minute(2))
        done = await _pause(scene, "default", minute(2))
        assert (done.withdrawn, done.cancelling) == (1, 0)
        assert (await scene.at(job, minute(2))).reason == Reason.WITHDRAWN
        await scene.promote(minute(600))
        assert await scene.claim(minute(600)) == []
        await _resume(scene, "default", minute(600))
        await scene.promote(minute(600))
        released = await scene.claim(minute(600))
        assert {one.id for one in released} == {claim.id, request}

    async def test_what_is_held_for_its_instant_gives_up_with_its_project(
        self, scene: Scene
    ) -> None:
        job = await scene.job()
        await scene.fire(AHEAD, horizon=2 * SECOND)
        claim = await scene.claim_one(AHEAD, lead=2 * SECOND)
        done = await _pause(scene, "default", AHEAD + 1)
        assert done.cancelling == 1
        await scene.finish(claim, OutcomeKind.CANCELLED, AHEAD + 2, started=False)
        assert (await scene.at(job, minute(1))).reason == Reason.WITHDRAWN
        await _resume(scene, "default", AHEAD + 3)
        await scene.fire(AHEAD + 3, horizon=2 * SECOND)
        assert (await scene.at(job, minute(1))).state is State.QUEUED

    @pytest.mark.parametrize("project", ["default", EVERYTHING])
    async def test_fires_on_record_are_in_no_range(self, scene: Scene, project: str) -> None:
        jobs = [await scene.job(), await scene.job()]
        await scene.fire(AHEAD, horizon=2 * SECOND)
        [held] = await scene.claim(AHEAD, limit=1, lead=2 * SECOND)
        [withdrawn] = [job for job in jobs if job.id != held.job.id]
        await _pause(scene, project, AHEAD + 1)
        await scene.succeed(held, minute(1))
        await _resume(scene, project, minute(3))
        await scene.fire(minute(3))
        assert (await scene.at(withdrawn, minute(1))).reason == Reason.WITHDRAWN
        assert (await scene.execution(held)).state is State.SUCCEEDED
        for job in jobs:
            ranges = [skip for skip in await scene.skips(job) if skip.count]
            assert ranges == [_range(job, minute(2), minute(3), 2)]

    async def test_a_run_asked_for_during_the_pause_runs_and_its_retry_is_held(
        self, scene: Scene
    ) -> None:
        job = await scene.job()
        await _pause(scene, "default", T0)
        await scene.run(a_request(job, T0))
        claim = await scene.claim_one(T0)
        await scene.fail(claim, T0 + 1)
        await scene.promote(minute(600))
        assert await scene.claim(minute(600)) == []

    async def test_a_finished_job_gives_back_its_last_run_and_gets_it_again(
        self, scene: Scene
    ) -> None:
        job = a_job()
        job = replace(job, trigger=replace(job.trigger, max_runs=1))
        await scene.add(job)
        await scene.fire(AHEAD, horizon=2 * SECOND)
        assert (await scene.cursor(job)).state is JobState.FINISHED
        done = await _pause(scene, "default", AHEAD + 1)
        assert done.withdrawn == 1
        await _resume(scene, "default", AHEAD + 2)
        await scene.fire(AHEAD + 2, horizon=2 * SECOND)
        assert (await scene.at(job, minute(1))).state is State.QUEUED

    async def test_its_end_resumes_the_jobs_by_itself(self, scene: Scene) -> None:
        job = await scene.job()
        await _pause(scene, "default", T0, until=minute(3))
        assert (await scene.fire(minute(2))).jobs == 0
        await scene.fire(minute(3))
        assert await scene.skips(job) == [_range(job, minute(1), minute(2), 2)]
        assert await scene.fire_times(job) == [minute(3)]
        assert await read_pauses(scene.store, minute(3)) == []

    async def test_a_pause_of_the_job_goes_on_when_that_of_its_project_ends(
        self, scene: Scene
    ) -> None:
        job = await scene.job()
        await scene.change(job, pause("bob", "mine"), T0)
        await _pause(scene, "default", T0 + 1)
        await _resume(scene, "default", T0 + 2)
        cursor = await scene.cursor(job)
        assert cursor.pause is not None
        assert (cursor.state, cursor.pause.by) == (JobState.PAUSED, "bob")

    async def test_a_job_that_is_resumed_goes_on_with_the_pause_of_its_project(
        self, scene: Scene
    ) -> None:
        job = await scene.job()
        await scene.change(job, pause("bob", "mine"), T0)
        await _pause(scene, "default", T0 + 1)
        await scene.change(job, resume(_note("default", T0 + 1)), T0 + 2)
        assert (await scene.cursor(job)).pause == _note("default", T0 + 1)
        await _resume(scene, "default", minute(2))
        await scene.fire(minute(2))
        assert await scene.skips(job) == [_range(job, minute(1), minute(2), 2)]

    async def test_everything_goes_before_projects_whose_own_pauses_stay(
        self, scene: Scene
    ) -> None:
        one, two = await scene.job(project="one"), await scene.job(project="two")
        await _pause(scene, "one", T0)
        await _pause(scene, EVERYTHING, T0 + 1)
        for job in (one, two):
            assert (await scene.cursor(job)).pause == _note(EVERYTHING, T0 + 1)
        await _resume(scene, EVERYTHING, T0 + 2)
        assert (await scene.cursor(one)).pause == _note("one", T0)
        assert (await scene.cursor(two)).state is JobState.ACTIVE

    async def test_a_planner_holds_what_was_added_at_the_same_moment(self, scene: Scene) -> None:
        await _pause(scene, "default", T0)
        job = await scene.job()
        await _fire_under(scene, minute(1))
        cursor = await scene.cursor(job)
        assert (cursor.state, cursor.pause) == (JobState.PAUSED, _note("default", T0))
        assert cursor.next_fire_time == minute(1) + HELD_FOR
        assert await scene.executions(job) == []

    async def test_what_a_planner_held_too_late_is_soon_looked_at_again(self, scene: Scene) -> None:
        job = await scene.job()
        known = ProjectPause(project="default", pause=_note("default", T0))
        await _fire_under(scene, minute(1), [known])  # resumed meanwhile, and it has not heard
        await _fire_under(scene, minute(1) + HELD_FOR)
        assert await scene.skips(job) == [_range(job, minute(1), minute(1), 1)]
        await _fire_under(scene, minute(2))
        assert await scene.fire_times(job) == [minute(2)]

    async def test_what_broke_off_is_completed_and_the_record_goes(self, scene: Scene) -> None:
        job = await scene.job()
        begun = ProjectPause(project="default", pause=_note("default", T0))
        await write_pause(scene.store, begun, T0)
        await complete(scene.store, ManualClock(T0 + SETTLES - 1))
        assert (await scene.cursor(job)).state is JobState.ACTIVE
        await complete(scene.store, ManualClock(T0 + SETTLES))
        assert (await scene.cursor(job)).state is JobState.PAUSED
        [on] = await read_pauses(scene.store, T0 + SETTLES)
        assert on.phase is Phase.ON
        ended = replace(on, phase=Phase.ENDING, ended_at=minute(1))
        await write_pause(scene.store, ended, minute(1))
        await complete(scene.store, ManualClock(minute(1) + SETTLES))
        assert (await scene.cursor(job)).state is JobState.ACTIVE
        assert await read_pauses(scene.store, minute(1) + SETTLES) == []


def _note(project: str, since: int, until: int | None = None) -> Pause:
    scope: PauseScope = scope_of(project)
    return Pause(by="ann", why="moving", since=since, until=until, scope=scope)


def _range(job: Job, first: int, last: int, count: int) -> RangeSkip:
    return RangeSkip(job_id=job.id, first=first, last=last, count=count, reason=Reason.PAUSED)


async def _pause(scene: Scene, project: str, now: int, *, until: int | None = None) -> Aligned:
    begun = ProjectPause(project=project, pause=_note(project, now, until))
    await write_pause(scene.store, begun, now)
    return await follow(scene.store, ManualClock(now), project)


async def _resume(scene: Scene, project: str, now: int) -> None:
    found = {each.project: each for each in await read_pauses(scene.store, now)}
    ended = replace(found[project], phase=Phase.ENDING, ended_at=now)
    await write_pause(scene.store, ended, now)
    await follow(scene.store, ManualClock(now), project)


async def _fire_under(scene: Scene, now: int, known: list[ProjectPause] | None = None) -> None:
    pauses = await read_pauses(scene.store, now) if known is None else known
    await scene.store.fire_due(
        now,
        0,
        1000,
        lambda job, cursor: plan(job, cursor, now, 0, under=covering(pauses, job.project, now)),
    )
