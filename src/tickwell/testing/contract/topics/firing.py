"""Firing: plans are recorded once, projects share a planner fairly, and runs are limited."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime

from tickwell.clock import to_datetime
from tickwell.domain.change import delete, edit, pause, resume
from tickwell.domain.execution import Kind, RangeSkip, Reason, State
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Cursor, Job, JobState
from tickwell.domain.planning import Plan, new_execution
from tickwell.domain.policy import HOUR, MINUTE, SECOND, Misfire, OnMisfire
from tickwell.domain.target import Call
from tickwell.domain.trigger import Every, Once, OnDemand
from tickwell.ids import execution_id
from tickwell.ports.records import Fired
from tickwell.ports.store import PlanMaker
from tickwell.testing.contract.builders import T0, a_job, a_request, minute
from tickwell.testing.contract.scene import Scene, planner
from tickwell.testing.contract.topic import Topic


class Firing(Topic):
    """`fire_due`."""

    async def test_a_due_job_becomes_one_queued_execution(self, scene: Scene) -> None:
        job = await scene.job(queue="mail", target=Call("send"), payload={"to": "a"})
        assert await scene.fire(minute(1)) == Fired(jobs=1, executions=1)
        [execution] = await scene.executions()
        assert execution.id == execution_id(job.id, minute(1))
        assert (execution.job_id, execution.project) == (job.id, "default")
        assert (execution.kind, execution.state) == (Kind.FIRE, State.QUEUED)
        assert execution.fire_time == execution.run_at == execution.created_at == minute(1)
        assert (execution.queue, execution.ability) == ("mail", "call:send")
        assert (execution.attempt, execution.charged, execution.payload) == (0, 0, None)
        assert execution.job_version == 1

    async def test_the_cursor_moves_with_the_record(self, scene: Scene) -> None:
        job = await scene.job()
        await scene.fire(minute(1))
        cursor = await scene.cursor(job)
        assert (cursor.next_fire_time, cursor.after, cursor.runs) == (minute(2), minute(1), 1)

    async def test_nothing_is_fired_before_its_instant(self, scene: Scene) -> None:
        await scene.job()
        assert await scene.fire(minute(1) - 1) == Fired()
        assert await scene.executions() == []

    async def test_firing_again_does_nothing(self, scene: Scene) -> None:
        await scene.job()
        await scene.fire(minute(1))
        assert await scene.fire(minute(1)) == Fired()
        assert await scene.states() == [State.QUEUED]

    async def test_the_horizon_fires_ahead_of_time(self, scene: Scene) -> None:
        job = await scene.job()
        fired = await scene.fire(minute(1) - 2000, horizon=2000)
        assert fired.executions == 1
        execution = await scene.at(job, minute(1))
        assert (execution.state, execution.run_at) == (State.QUEUED, minute(1))
        assert execution.created_at == minute(1) - 2000

    async def test_what_jitter_moves_beyond_the_horizon_waits(self, scene: Scene) -> None:
        job = await scene.job(trigger=Every("1h", jitter="50m"))
        await scene.fire(T0 + HOUR)
        execution = await scene.at(job, T0 + HOUR)
        assert T0 + HOUR < execution.run_at <= T0 + HOUR + 50 * MINUTE
        assert (execution.state, execution.fire_time) == (State.WAITING, T0 + HOUR)

    async def test_the_limit_takes_the_oldest_first_and_says_that_there_is_more(
        self, scene: Scene
    ) -> None:
        late = [await scene.job(trigger=Every("3m")) for _ in range(2)]
        early = [await scene.job(trigger=Every("2m")) for _ in range(2)]
        assert (await scene.fire(minute(3), limit=3)).more
        fired_late = [await scene.fire_times(job) for job in late]
        assert [await scene.fire_times(job) for job in early] == [[minute(2)], [minute(2)]]
        assert sorted(fired_late) == [[], [minute(3)]]
        assert await scene.fire(minute(3), limit=3) == Fired(jobs=1, executions=1)

    async def test_what_was_missed_is_caught_up_as_the_policy_says(self, scene: Scene) -> None:
        job = await scene.job()
        fired = await scene.fire(minute(5) + 30 * SECOND)
        assert (fired.executions, fired.skipped) == (1, 4)
        assert fired.reasons == {Reason.MISFIRE: 4}
        assert await scene.fire_times(job) == [minute(5)]
        [skip] = await scene.skips(job)
        assert (skip.first, skip.last, skip.count) == (minute(1), minute(4), 4)
        assert (skip.job_id, skip.reason) == (job.id, Reason.MISFIRE)

    async def test_all_that_was_missed_runs_if_the_policy_says_so(self, scene: Scene) -> None:
        misfire = Misfire(policy=OnMisfire.ALL, cap=3)
        job = await scene.job(misfire=misfire, overlap=Overlap.ALLOW)
        fired = await scene.fire(minute(5) + 30 * SECOND)
        assert (fired.executions, fired.skipped) == (3, 2)
        assert await scene.fire_times(job) == [minute(3), minute(4), minute(5)]
        assert (await scene.cursor(job)).runs == 3

    async def test_an_execution_that_exists_is_left_alone(self, scene: Scene) -> None:
        job = await scene.job()
        await scene.fire(minute(1))
        claim = await scene.claim_one(minute(1))
        await scene.succeed(claim, minute(1) + 5)
        before = await scene.execution(claim)
        fired = await scene.store.fire_due(minute(2), 0, 10, _fires_again(minute(1), minute(3)))
        assert (fired.jobs, fired.executions) == (1, 0)
        assert await scene.execution(claim) == before
        assert (await scene.cursor(job)).next_fire_time == minute(3)

    async def test_an_execution_that_exists_counts_once_for_max_runs(self, scene: Scene) -> None:
        job = await scene.job(trigger=Every("1m", max_runs=2), overlap=Overlap.ALLOW)
        await scene.fire(minute(1))
        await scene.store.fire_due(minute(2), 0, 10, _fires_again(minute(1), minute(3)))
        cursor = await scene.cursor(job)
        assert (cursor.state, cursor.runs) == (JobState.ACTIVE, 1)

    async def test_a_fire_time_is_skipped_once_however_often_it_is_planned(
        self, scene: Scene
    ) -> None:
        """As after a clock that went back."""
        job = await scene.job()
        skipped = []
        for first, last in ((2, 5), (4, 8), (3, 7), (9, 9), (1, 9)):

            def plan(job: Job, cursor: Cursor, first: int = first, last: int = last) -> Plan:
                skip = RangeSkip(
                    job_id=job.id,
                    first=minute(first),
                    last=minute(last),
                    count=last - first + 1,
                    reason=Reason.MISFIRE,
                )
                return Plan(replace(cursor, next_fire_time=minute(1)), skips=[skip])

            fired = await scene.store.fire_due(minute(1), 0, 10, plan)
            skipped.append(fired.skipped)
        assert skipped == [4, 3, 0, 1, 1]
        assert sum(skip.count for skip in await scene.skips(job)) == 9

    async def test_what_a_plan_leaves_over_is_said(self, scene: Scene) -> None:
        await scene.job()
        left_over = planner(minute(1))

        def plan(job: Job, cursor: Cursor) -> Plan:
            planned = left_over(job, cursor)
            planned.more = True
            return planned

        assert (await scene.store.fire_due(minute(1), 0, 10, plan)).more

    async def test_a_job_fires_once_and_is_finished(self, scene: Scene) -> None:
        job = await scene.job(trigger=Once(to_datetime(minute(1))))
        await scene.fire(minute(1))
        cursor = await scene.cursor(job)
        assert (cursor.state, cursor.next_fire_time) == (JobState.FINISHED, None)
        assert await scene.fire(minute(9)) == Fired()
        assert await scene.fire_times(job) == [minute(1)]

    async def test_jobs_on_demand_paused_and_deleted_do_not_fire(self, scene: Scene) -> None:
        await scene.job(trigger=OnDemand())
        paused, deleted = await scene.job(), await scene.job()
        await scene.change(paused, pause("ann", "holiday"), T0)
        await scene.change(deleted, delete(), T0)
        assert await scene.fire(minute(9)) == Fired()

    async def test_a_pause_with_an_end_ends_by_itself_and_releases_what_it_held(
        self, scene: Scene
    ) -> None:
        job = await scene.job(trigger=Every("1h"))
        await scene.run(a_request(job, T0))
        await scene.change(job, pause("ann", "holiday", until=minute(90)), T0)
        assert await scene.fire(minute(89)) == Fired()
        assert await scene.claim(minute(89)) == []
        await scene.fire(minute(90))
        await scene.promote(minute(90))
        assert (await scene.cursor(job)).state is JobState.ACTIVE
        assert len(await scene.claim(minute(90))) == 1
        [skip] = await scene.skips(job)
        assert (skip.first, skip.count, skip.reason) == (T0 + HOUR, 1, Reason.PAUSED)
        assert (await scene.cursor(job)).next_fire_time == T0 + 2 * HOUR

    async def test_what_a_pause_held_does_not_run_before_the_pause_ends(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        await scene.run(a_request(job, T0))
        await scene.change(job, pause("ann", "holiday", until=minute(1)), T0)
        await scene.fire(minute(1) - 2000, horizon=2000)
        await scene.promote(minute(1) - 2000, horizon=2000)
        assert await scene.claim(minute(1) - 1) == []
        [execution] = await scene.executions()
        assert (execution.state, execution.run_at) == (State.QUEUED, minute(1))

    async def test_a_withdrawn_slot_is_armed_again(self, scene: Scene) -> None:
        job = await scene.job()
        ahead = minute(1) - 2000
        await scene.fire(ahead, horizon=2000)
        await scene.change(job, pause("ann", "wait"), ahead)
        assert (await scene.at(job, minute(1))).reason == Reason.WITHDRAWN
        await scene.change(job, resume(), ahead + 1)
        fired = await scene.fire(ahead + 2, horizon=2000)
        assert fired.executions == 1
        execution = await scene.at(job, minute(1))
        assert (execution.state, execution.reason, execution.ended_at) == (State.QUEUED, None, None)
        assert execution.created_at == ahead
        assert (await scene.cursor(job)).runs == 2
        assert await scene.states(job) == [State.QUEUED]

    async def test_fire_times_are_exact_to_the_millisecond(self, scene: Scene) -> None:
        at = datetime(2026, 1, 1, 0, 0, 1, 234_000, tzinfo=UTC)
        job = await scene.job(trigger=Once(at))
        assert await scene.fire(T0 + 1233) == Fired()
        await scene.fire(T0 + 1234)
        assert await scene.fire_times(job) == [T0 + 1234]


def _fires_again(fire_time: int, upcoming: int) -> PlanMaker:
    """A planner that answers a slot a second time, as one with another clock might."""

    def plan(job: Job, cursor: Cursor) -> Plan:
        id = execution_id(job.id, fire_time)
        again = new_execution(job, fire_time, id=id, kind=Kind.FIRE, overlap=job.overlap)
        moved = replace(cursor, next_fire_time=upcoming, runs=cursor.runs + 1)
        return Plan(moved, [again])

    return plan


class Turns(Topic):
    """`fire_due` with `round_robin`: projects are planned round robin."""

    async def test_each_project_has_an_equal_part(self, scene: Scene) -> None:
        crowd = [await scene.job(project="crowd") for _ in range(5)]
        few = [await scene.job(project=name, trigger=Every("2m")) for name in ("a", "few")]
        fired = await scene.fire(minute(2), limit=6, round_robin=True)
        reasons = Counter({Reason.MISFIRE: 2})
        assert fired == Fired(jobs=4, executions=4, skipped=2, reasons=reasons, more=True)
        assert [await scene.fire_times(job) for job in few] == [[minute(2)], [minute(2)]]
        assert sum([len(await scene.fire_times(job)) for job in crowd]) == 2

    async def test_of_its_part_a_project_has_the_oldest_first(self, scene: Scene) -> None:
        late = await scene.job(project="crowd", trigger=Every("3m"))
        early = await scene.job(project="crowd", trigger=Every("2m"))
        other = await scene.job(project="few", trigger=Every("3m"))
        assert (await scene.fire(minute(3), limit=2, round_robin=True)).more
        assert await scene.fire_times(early) == [minute(2)]
        assert await scene.fire_times(other) == [minute(3)]
        assert await scene.fire_times(late) == []

    async def test_one_project_alone_has_all_of_the_limit(self, scene: Scene) -> None:
        await scene.job(project="few", trigger=Every("1h"))
        await scene.job(project="none", trigger=OnDemand())
        gone = await scene.job(project="gone")
        await scene.change(gone, delete(), T0)
        for _ in range(3):
            await scene.job(project="crowd")
        first = await scene.fire(minute(1), limit=2, round_robin=True)
        assert first == Fired(jobs=2, executions=2, more=True)
        assert await scene.fire(minute(1), limit=2, round_robin=True) == Fired(jobs=1, executions=1)
        assert await scene.fire(minute(1), limit=2, round_robin=True) == Fired()

    async def test_no_more_than_the_limit_is_fired_however_many_projects_there_are(
        self, scene: Scene
    ) -> None:
        jobs = [await scene.job(project=f"p{n}") for n in range(5)]
        rounds = [await scene.fire(minute(1), limit=2, round_robin=True) for _ in range(3)]
        assert [fired.jobs for fired in rounds] == [2, 2, 1]
        assert [await scene.fire_times(job) for job in jobs] == [[minute(1)]] * 5

    async def test_a_project_whose_plans_fail_keeps_no_other_waiting(self, scene: Scene) -> None:
        bad = await scene.job(project="bad")
        good = [await scene.job(project="good") for _ in range(2)]
        sound = planner(minute(1))

        def plan(job: Job, cursor: Cursor) -> Plan:
            if job.id == bad.id:
                raise ValueError("no plan")
            return sound(job, cursor)

        for _ in range(2):
            await scene.store.fire_due(minute(1), 0, 2, plan, round_robin=True)
        assert [await scene.fire_times(job) for job in good] == [[minute(1)], [minute(1)]]
        assert (await scene.cursor(bad)).next_fire_time == minute(1)

    async def test_a_round_robin_plan_reports_what_is_left_too(self, scene: Scene) -> None:
        await scene.job()

        def plan(job: Job, cursor: Cursor) -> Plan:
            return replace(planner(minute(1))(job, cursor), more=True)

        assert (await scene.store.fire_due(minute(1), 0, 10, plan, round_robin=True)).more

    async def test_a_cursor_that_moved_is_found_where_it_is_now(self, scene: Scene) -> None:
        job = await scene.job(project="a", trigger=Every("1m"))
        await scene.job(project="b")
        assert (await scene.fire(minute(1), round_robin=True)).jobs == 2
        assert (await scene.fire(minute(1), round_robin=True)).jobs == 0
        assert (await scene.fire(minute(2), horizon=MINUTE, round_robin=True)).jobs == 2
        assert (await scene.cursor(job)).next_fire_time == minute(4)


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
        job = await scene.job(trigger=trigger, expires="1s", overlap=Overlap.ALLOW)
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
