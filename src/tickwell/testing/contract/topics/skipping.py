"""Skipping one occurrence before it comes, and undoing that."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tickwell.domain.change import edit, pause, recall, resume, skip, unskip
from tickwell.domain.execution import PENDING, OutcomeKind, RangeSkip, Reason, State
from tickwell.domain.job import Job, JobState
from tickwell.domain.policy import Misfire, OnMisfire
from tickwell.domain.trigger import Every
from tickwell.errors import InvalidInput, WrongState
from tickwell.ids import execution_id
from tickwell.testing.contract.builders import T0, minute
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.topic import Topic

#: Two seconds before the second fire, and how far ahead it is planned then.
AHEAD, HORIZON = minute(2) - 2000, 2000


class Skipping(Topic):
    """The slot is answered as skipped by a person, and everything else runs as it would."""

    async def test_the_occurrence_is_skipped_and_those_around_it_run(self, scene: Scene) -> None:
        job = await scene.job()
        await scene.change(job, skip(minute(2)), T0)
        assert (await scene.cursor(job)).skipped == (minute(2),)
        for number in (1, 2, 3):
            await scene.fire(minute(number))
        assert await scene.fire_times(job) == [minute(1), minute(3)]
        assert _told(await scene.skips(job)) == [(minute(2), minute(2), 1, Reason.BY_PERSON)]
        cursor = await scene.cursor(job)
        assert (cursor.skipped, cursor.runs) == ((), 2)

    async def test_asked_for_again_it_changes_nothing(self, scene: Scene) -> None:
        job = await scene.job()
        for _ in range(2):
            await scene.change(job, skip(minute(2)), T0)
        assert (await scene.cursor(job)).skipped == (minute(2),)

    async def test_an_undone_skip_leaves_no_trace(self, scene: Scene) -> None:
        job = await scene.job()
        before = await scene.cursor(job)
        await scene.change(job, skip(minute(2)), T0)
        await scene.change(job, unskip(minute(2)), minute(1))
        assert await scene.cursor(job) == before
        await scene.fire(minute(1))
        await scene.fire(minute(2))
        assert await scene.fire_times(job) == [minute(1), minute(2)]
        assert await scene.skips(job) == []

    async def test_what_was_planned_as_skipped_runs_if_it_is_undone_in_time(
        self, scene: Scene
    ) -> None:
        job = await scene.job(trigger=Every("1m", max_runs=2))
        await scene.change(job, skip(minute(2)), T0)
        await scene.fire(minute(1))
        await scene.succeed(await scene.claim_one(minute(1)), minute(1))
        await scene.fire(AHEAD, horizon=HORIZON)
        assert await scene.fire_times(job) == [minute(1)]
        await scene.change(job, unskip(minute(2)), AHEAD + 1)
        await scene.promote(minute(2))
        claim = await scene.claim_one(minute(2))
        assert claim.fire_time == minute(2)
        await scene.succeed(claim, minute(2))
        assert (await scene.cursor(job)).runs == 2
        await scene.fire(minute(3))
        assert (await scene.cursor(job)).state is JobState.FINISHED

    async def test_what_was_planned_to_run_is_settled_and_not_planned_again(
        self, scene: Scene
    ) -> None:
        job = await scene.job(trigger=Every("1m", max_runs=2))
        await scene.fire(minute(1))
        await scene.succeed(await scene.claim_one(minute(1)), minute(1))
        await scene.fire(AHEAD, horizon=HORIZON)
        await _skip_planned(scene, job, minute(2), AHEAD + 1)
        assert await scene.claim(minute(2)) == []
        assert (await scene.cursor(job)).runs == 1
        # A pause and its end go back over what was planned.
        await scene.change(job, pause("ann", "wait"), AHEAD + 2)
        await scene.change(job, resume(), AHEAD + 3)
        await scene.fire(AHEAD + 4, horizon=HORIZON)
        row = await scene.at(job, minute(2))
        assert (row.state, row.reason) == (State.SKIPPED, Reason.BY_PERSON)
        await scene.fire(minute(3))
        assert await scene.fire_times(job, State.QUEUED) == [minute(3)]

    async def test_what_was_planned_to_run_runs_if_its_skip_is_undone_in_time(
        self, scene: Scene
    ) -> None:
        job = await scene.job()
        await scene.fire(minute(1))
        await scene.succeed(await scene.claim_one(minute(1)), minute(1))
        await scene.fire(AHEAD, horizon=HORIZON)
        await _skip_planned(scene, job, minute(2), AHEAD + 1)
        await scene.change(job, unskip(minute(2), planned=True), AHEAD + 2)
        await scene.promote(minute(2))
        claim = await scene.claim_one(minute(2))
        assert claim.fire_time == minute(2)
        row = await scene.execution(claim)
        assert (row.state, row.reason) == (State.RUNNING, None)
        assert await scene.fire_times(job) == [minute(1), minute(2)]

    async def test_an_edit_keeps_it(self, scene: Scene) -> None:
        job = await scene.job()
        await scene.change(job, skip(minute(2)), T0)
        await scene.change(job, edit(job), T0 + 1)
        await scene.fire(minute(2))
        assert minute(2) not in await scene.fire_times(job)

    async def test_a_pause_keeps_it_and_it_keeps_the_pause(self, scene: Scene) -> None:
        job = await scene.job()
        await scene.change(job, pause("ann", "wait"), T0)
        await scene.change(job, skip(minute(2)), T0 + 1)
        cursor = await scene.cursor(job)
        assert cursor.pause is not None
        assert (cursor.pause.by, cursor.skipped) == ("ann", (minute(2),))
        await scene.change(job, resume(), T0 + 2)
        assert (await scene.cursor(job)).pause is None
        await scene.fire(minute(1))
        await scene.fire(minute(2))
        assert await scene.fire_times(job) == [minute(1)]

    async def test_missed_fire_times_around_it_are_another_range(self, scene: Scene) -> None:
        job = await scene.job(misfire=Misfire(policy=OnMisfire.SKIP))
        await scene.change(job, skip(minute(3)), T0)
        await scene.fire(minute(5))
        assert _told(await scene.skips(job)) == [
            (minute(1), minute(2), 2, Reason.MISFIRE),
            (minute(3), minute(3), 1, Reason.BY_PERSON),
            (minute(4), minute(4), 1, Reason.MISFIRE),
        ]
        assert await scene.fire_times(job) == [minute(5)]

    async def test_a_recall_after_an_outage_does_not_run_it(self, scene: Scene) -> None:
        job = await scene.job(misfire=Misfire(policy=OnMisfire.ALL))
        await scene.change(job, skip(minute(2)), T0)
        await scene.fire(T0, horizon=minute(3) - T0)
        assert await scene.fire_times(job) == [minute(1), minute(3)]
        await scene.change(job, recall([minute(1), minute(3)]), minute(60))
        while (await scene.fire(minute(60))).more:
            pass
        assert minute(2) not in await scene.fire_times(job)
        by_person = [one for one in await scene.skips(job) if one.reason is Reason.BY_PERSON]
        assert _told(by_person) == [(minute(2), minute(2), 1, Reason.BY_PERSON)]

    async def test_a_skipped_run_of_a_job_that_counts_from_its_end_is_followed_by_another(
        self, scene: Scene
    ) -> None:
        job = await scene.job(trigger=Every("1m", after="finish"))
        await scene.change(job, skip(minute(1)), T0)
        await scene.fire(minute(1))
        assert await scene.fire_times(job) == []
        await scene.fire(minute(2))
        claim = await scene.claim_one(minute(2))
        assert claim.fire_time == minute(2)
        await scene.finish(claim, OutcomeKind.SUCCEEDED, minute(2) + 1)

    async def test_an_instant_at_which_it_does_not_fire_is_refused(self, scene: Scene) -> None:
        job = await scene.job()
        with pytest.raises(InvalidInput, match="00:01:00Z, 2026-01-01T00:02:00Z"):
            await scene.change(job, skip(minute(1) + 1), T0)
        with pytest.raises(WrongState, match="past"):
            await scene.change(job, skip(minute(1)), minute(1))
        with pytest.raises(InvalidInput, match="is not skipped"):
            await scene.change(job, unskip(minute(1)), T0)
        assert (await scene.cursor(job)).skipped == ()


async def _skip_planned(scene: Scene, job: Job, at: int, now: int) -> None:
    """As the service does it: the mark first, then what was planned before it."""
    await scene.change(job, skip(at, planned=True), now)
    id = execution_id(job.id, at)
    settled = await scene.store.settle([id], PENDING, State.SKIPPED, Reason.BY_PERSON, now)
    assert settled == [id]


def _told(skips: Sequence[RangeSkip]) -> list[tuple[int, int, int, Reason]]:
    found = [(one.first, one.last, one.count, one.reason) for one in skips if one.count]
    return sorted(found)
