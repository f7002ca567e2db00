"""Planning in turn: the crowd of one project keeps nobody else's fires waiting."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from tickwell.domain.change import delete
from tickwell.domain.execution import Reason
from tickwell.domain.job import Cursor, Job
from tickwell.domain.planning import Plan
from tickwell.domain.policy import MINUTE
from tickwell.domain.trigger import Every, OnDemand
from tickwell.ports.records import Fired
from tickwell.testing.contract.builders import T0, minute
from tickwell.testing.contract.scene import Scene, planner
from tickwell.testing.contract.topic import Topic


class Turns(Topic):
    """`fire_due` in turn."""

    async def test_each_project_has_an_equal_part(self, scene: Scene) -> None:
        crowd = [await scene.job(project="crowd") for _ in range(5)]
        few = [await scene.job(project=name, trigger=Every("2m")) for name in ("a", "few")]
        fired = await scene.fire(minute(2), limit=6, in_turn=True)
        reasons = Counter({Reason.MISFIRE: 2})
        assert fired == Fired(jobs=4, executions=4, skipped=2, reasons=reasons, more=True)
        assert [await scene.fire_times(job) for job in few] == [[minute(2)], [minute(2)]]
        assert sum([len(await scene.fire_times(job)) for job in crowd]) == 2

    async def test_of_its_part_a_project_has_the_oldest_first(self, scene: Scene) -> None:
        late = await scene.job(project="crowd", trigger=Every("3m"))
        early = await scene.job(project="crowd", trigger=Every("2m"))
        other = await scene.job(project="few", trigger=Every("3m"))
        assert (await scene.fire(minute(3), limit=2, in_turn=True)).more
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
        first = await scene.fire(minute(1), limit=2, in_turn=True)
        assert first == Fired(jobs=2, executions=2, more=True)
        assert await scene.fire(minute(1), limit=2, in_turn=True) == Fired(jobs=1, executions=1)
        assert await scene.fire(minute(1), limit=2, in_turn=True) == Fired()

    async def test_no_more_than_the_limit_is_fired_however_many_projects_there_are(
        self, scene: Scene
    ) -> None:
        jobs = [await scene.job(project=f"p{n}") for n in range(5)]
        rounds = [await scene.fire(minute(1), limit=2, in_turn=True) for _ in range(3)]
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
            await scene.store.fire_due(minute(1), 0, 2, plan, in_turn=True)
        assert [await scene.fire_times(job) for job in good] == [[minute(1)], [minute(1)]]
        assert (await scene.cursor(bad)).next_fire_time == minute(1)

    async def test_what_a_plan_leaves_over_is_said_in_turn_too(self, scene: Scene) -> None:
        await scene.job()

        def plan(job: Job, cursor: Cursor) -> Plan:
            return replace(planner(minute(1))(job, cursor), more=True)

        assert (await scene.store.fire_due(minute(1), 0, 10, plan, in_turn=True)).more

    async def test_a_cursor_that_moved_is_found_where_it_is_now(self, scene: Scene) -> None:
        job = await scene.job(project="a", trigger=Every("1m"))
        await scene.job(project="b")
        assert (await scene.fire(minute(1), in_turn=True)).jobs == 2
        assert (await scene.fire(minute(1), in_turn=True)).jobs == 0
        assert (await scene.fire(minute(2), horizon=MINUTE, in_turn=True)).jobs == 2
        assert (await scene.cursor(job)).next_fire_time == minute(4)
