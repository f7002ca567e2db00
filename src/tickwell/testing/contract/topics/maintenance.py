"""Maintenance windows: fire times inside are skipped, and nothing else is."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tickwell.clock import to_datetime
from tickwell.domain.change import skip
from tickwell.domain.execution import OutcomeKind, RangeSkip, Reason, State
from tickwell.domain.fairness import PLATFORM_PROJECT
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Job, JobState
from tickwell.domain.maintenance import (
    MAINTENANCE_KIND,
    Closed,
    MaintenanceWindow,
    to_document,
)
from tickwell.domain.planning import plan
from tickwell.domain.policy import MINUTE, SECOND, Misfire, OnMisfire
from tickwell.domain.project_pause import EVERYTHING
from tickwell.domain.trigger import Cron, Every, Once
from tickwell.engine.planning.maintenance import read_windows, take_back, windows_of
from tickwell.ports.records import Fired, Record
from tickwell.testing.contract.builders import T0, a_request, minute
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.topic import Topic

#: Two seconds before the second fire, and how far ahead it is planned then.
AHEAD, HORIZON = minute(2) - 2 * SECOND, 2 * SECOND


class Maintenance(Topic):
    """What windows do to jobs and their executions."""

    async def test_its_start_is_inside_and_its_end_is_not(self, scene: Scene) -> None:
        job = await scene.job()
        windows = [_window(minute(2), minute(4))]
        for number in (1, 2, 3, 4):
            await _fire(scene, windows, minute(number))
        assert await scene.fire_times(job) == [minute(1), minute(4)]
        assert _told(await scene.skips(job)) == [(minute(2), minute(2), 1), (minute(3),) * 2 + (1,)]
        cursor = await scene.cursor(job)
        assert (cursor.state, cursor.runs, cursor.pause) == (JobState.ACTIVE, 2, None)

    async def test_a_planner_that_comes_back_after_it_skips_what_was_inside(
        self, scene: Scene
    ) -> None:
        job = await scene.job(misfire=Misfire(policy=OnMisfire.ALL))
        windows = [_window(minute(2), minute(4)), _window(minute(5), minute(6), name="b")]
        await _fire(scene, windows, minute(6))
        assert await scene.fire_times(job) == [minute(1), minute(4), minute(6)]
        found = [(minute(2), minute(3), 2), (minute(5), minute(5), 1)]
        assert _told(await scene.skips(job)) == found

    async def test_a_window_by_a_trigger_comes_again(self, scene: Scene) -> None:
        job = await scene.job(trigger=Every("30m"))
        windows = [_window(0, 20 * MINUTE, trigger=Cron("55 * * * *"))]
        for number in range(30, 241, 30):
            await _fire(scene, windows, minute(number))
        assert await scene.fire_times(job) == [minute(number) for number in (30, 90, 150, 210)]

    async def test_only_jobs_with_its_tags_and_of_its_queues_are_skipped(
        self, scene: Scene
    ) -> None:
        both = await scene.job(tags=("db", "night"), queue="slow")
        tagged = await scene.job(tags=("db",))
        elsewhere = await scene.job(tags=("db",), queue="slow", project="other")
        windows = [_window(minute(1), minute(2), tags=("db", "x"), queues=("slow",))]
        await _fire(scene, windows, minute(1))
        assert await scene.fire_times(both) == []
        assert await scene.fire_times(tagged) == [minute(1)]
        assert await scene.fire_times(elsewhere) == [minute(1)]
        windows = [_window(minute(2), minute(3), project=EVERYTHING)]
        await _fire(scene, windows, minute(2))
        for job in (both, tagged, elsewhere):
            assert minute(2) not in await scene.fire_times(job)

    async def test_what_was_planned_ahead_of_it_is_taken_back(self, scene: Scene) -> None:
        job = await scene.job(tags=("db",), trigger=Every("1m", max_runs=2))
        spared = await scene.job()
        await scene.fire(minute(1))
        for claim in await scene.claim(minute(1)):
            await scene.succeed(claim, minute(1))
        await scene.fire(AHEAD, horizon=HORIZON)
        window = _window(AHEAD + 1, minute(3), tags=("db",))
        taken = await take_back(scene.store, [window], AHEAD + 1)
        assert [(each.id, one.first, one.reason) for each, one in taken] == [
            (job.id, minute(2), Reason.MAINTENANCE)
        ]
        row = await scene.at(job, minute(2))
        assert (row.state, row.reason) == (State.SKIPPED, Reason.MAINTENANCE)
        assert (await scene.cursor(job)).runs == 1
        await scene.promote(minute(2))
        [claim] = await scene.claim(minute(2))
        assert claim.job.id == spared.id
        await _fire(scene, [window], minute(3))
        assert minute(3) in await scene.fire_times(job)
        assert await take_back(scene.store, [window], minute(3)) == []

    async def test_what_runs_and_what_is_requested_goes_on(self, scene: Scene) -> None:
        job = await scene.job(overlap=Overlap.ALLOW)
        await scene.fire(minute(1))
        running = await scene.claim_one(minute(1))
        await scene.finish(running, OutcomeKind.SNOOZED, minute(1), delay=MINUTE)
        [request] = await scene.run(a_request(job, minute(2)), now=minute(1))
        window = _window(minute(1), minute(3))
        assert await take_back(scene.store, [window], minute(1) + 1) == []
        await scene.promote(minute(2))
        assert {claim.id for claim in await scene.claim(minute(2))} == {running.id, request}

    async def test_one_that_begins_later_takes_nothing_back_that_runs_before(
        self, scene: Scene
    ) -> None:
        job = await scene.job()
        await scene.fire(AHEAD, horizon=HORIZON)
        window = _window(minute(2) + 1, minute(3))
        assert await take_back(scene.store, [window], AHEAD) == []
        assert minute(2) in await scene.fire_times(job)

    async def test_of_two_planners_the_one_that_has_not_heard_is_put_right(
        self, scene: Scene, other: Scene
    ) -> None:
        jobs = [await scene.job() for _ in range(4)]
        await scene.fire(minute(1))
        for claim in await scene.claim(minute(1)):
            await scene.succeed(claim, minute(1))
        windows = [_window(AHEAD, minute(3))]
        await _fire(scene, windows, AHEAD, limit=2, horizon=HORIZON)
        await _fire(other, [], AHEAD, horizon=HORIZON)
        await take_back(scene.store, windows, AHEAD)
        assert await scene.claim(minute(2)) == []
        for job in jobs:
            rows = [row for row in await scene.executions(job) if row.fire_time == minute(2)]
            ranges = [one for one in await scene.skips(job) if one.last == minute(2)]
            answers = [row.reason for row in rows] + [one.reason for one in ranges]
            assert answers == [Reason.MAINTENANCE]

    async def test_a_job_that_counts_from_its_end_goes_on_after_it(self, scene: Scene) -> None:
        job = await scene.job(trigger=Every("1m", after="finish"))
        windows = [_window(minute(1), minute(2))]
        await _fire(scene, windows, minute(1))
        assert await scene.fire_times(job) == []
        await _fire(scene, windows, minute(2))
        claim = await scene.claim_one(minute(2))
        assert claim.fire_time == minute(2)

    async def test_an_occurrence_that_a_person_skipped_stays_theirs(self, scene: Scene) -> None:
        job = await scene.job()
        await scene.change(job, skip(minute(2)), T0)
        await _fire(scene, [_window(minute(1), minute(4))], minute(4))
        reasons = [(one.first, one.last, one.reason) for one in await scene.skips(job)]
        assert sorted(reasons) == [
            (minute(1), minute(1), Reason.MAINTENANCE),
            (minute(2), minute(2), Reason.BY_PERSON),
            (minute(3), minute(3), Reason.MAINTENANCE),
        ]
        assert await scene.fire_times(job) == [minute(4)]

    async def test_its_record_gives_back_the_same_window(self, scene: Scene) -> None:
        own = _window(0, MINUTE, trigger=Cron("0 2 * * sun", tz="Europe/Rome"), tags=("db",))
        of_all = _window(minute(2), minute(3), project=EVERYTHING, name="b")
        of_others = _window(minute(2), minute(3), project="other")
        for window in (own, of_all, of_others):
            record = Record(
                kind=MAINTENANCE_KIND,
                project=PLATFORM_PROJECT,
                key=window.key,
                document=to_document(window),
            )
            assert await scene.store.put_record(record, T0)
        found = {each.key: each for each in await read_windows(scene.store, T0)}
        assert found == {each.key: each for each in (own, of_all, of_others)}
        ours = [each.key for each in await windows_of(scene.store, "default", T0)]
        assert sorted(ours) == sorted([own.key, of_all.key])


def _window(start: int, end: int, **fields: Any) -> MaintenanceWindow:
    window: dict[str, Any] = {
        "project": "default",
        "name": "a",
        "trigger": Once(to_datetime(start)),
        "duration": end - start,
        "by": "ann",
        "changed_at": T0,
    }
    return MaintenanceWindow(**(window | fields))


async def _fire(
    scene: Scene,
    windows: Sequence[MaintenanceWindow],
    now: int,
    *,
    horizon: int = 0,
    limit: int = 1000,
) -> Fired:
    closed = Closed(windows)

    def planner(job: Job, cursor: Any) -> Any:
        return plan(job, cursor, now, horizon, in_maintenance=closed.of(job))

    return await scene.store.fire_due(now, horizon, limit, planner)


def _told(skips: Sequence[RangeSkip]) -> list[tuple[int, int, int]]:
    found = [(one.first, one.last, one.count) for one in skips if one.count]
    assert {one.reason for one in skips if one.count} == {Reason.MAINTENANCE}
    return sorted(found)
