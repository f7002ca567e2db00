from dataclasses import replace

import pytest

from tickwell.clock import to_datetime
from tickwell.domain import planning
from tickwell.domain.event import FiresSkipped, JobUnreadable
from tickwell.domain.execution import Reason, State
from tickwell.domain.fairness import PLATFORM_PROJECT
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Pause, PauseScope
from tickwell.domain.maintenance import MAINTENANCE_KIND, MaintenanceWindow, to_document
from tickwell.domain.policy import Misfire, OnMisfire
from tickwell.domain.project_pause import Phase, ProjectPause
from tickwell.domain.trigger import Every, Once
from tickwell.engine.planning import planner as module
from tickwell.engine.planning.planner import GATHER
from tickwell.engine.planning.project_pauses import LOOK, follow, write_pause
from tickwell.errors import StoreUnavailable
from tickwell.ports.records import ExecutionFilter, Record

ALL = Misfire(policy=OnMisfire.ALL)


@pytest.fixture
async def planner(rig):
    await rig.beat()
    rig.engine._loops["worker"].wake.clear()
    return rig.engine._loops["planner"].service


async def test_it_rests_until_a_fire_has_come_well_within_the_horizon(rig, planner):
    await rig.add(trigger=Every("4s"))
    assert await planner.step() == pytest.approx(4 - rig.settings.horizon * 0.85)


async def test_it_fires_at_the_end_of_that_rest_and_not_before(rig, planner):
    await rig.add(trigger=Every("4s"))
    await rig.clock.advance(await planner.step())
    await planner.step()
    assert await rig.states() == [State.QUEUED]


async def test_it_rests_for_the_poll_when_nothing_is_to_come(rig, planner):
    assert await planner.step() == rig.settings.poll


async def test_it_comes_back_at_once_when_a_batch_was_full(rig, planner):
    planner.settings = type(rig.settings)(store="memory://", batch=2)
    for number in range(5):
        await rig.add(f"job{number}", trigger=Every("1s"))
    rests = [await planner.step() for _ in range(3)]
    assert rests[:2] == [0.0, 0.0]
    assert rests[2] > 0
    assert len(await rig.states()) == 10  # each twice within the horizon


async def test_a_crowd_of_one_project_keeps_the_fires_of_another_waiting_for_a_step(rig, planner):
    planner.settings = type(rig.settings)(store="memory://", batch=4)
    for number in range(20):
        await rig.add(f"job{number}", project="crowd", trigger=Every("1s500ms"))
    few = await rig.add("few", project="few", trigger=Every("2s"))
    assert [await planner.step() for _ in range(2)] == [0.0, 0.0]
    planned = [row.execution.job_id for row in rig.memory.tables.rows.values()]
    assert planned.count(few.id) == 1
    assert len(planned) == 4 + 2 + 1


async def test_after_a_round_robin_step_it_looks_once_more_before_it_rests(rig, planner):
    planner.settings = type(rig.settings)(store="memory://", batch=2)
    for number in range(3):
        await rig.add(f"job{number}", trigger=Every("1s500ms"))
    rests = [await planner.step() for _ in range(3)]
    assert rests[:2] == [0.0, 0.0]
    assert rests[2] > 0
    assert len(await rig.states()) == 3


async def test_what_was_missed_stands_before_what_is_planned_ahead(rig, planner):
    for number in range(5):
        await rig.add(f"job{number}", trigger=Every("1s"), overlap=Overlap.ALLOW, misfire=ALL)
    await rig.clock.advance(20)
    await rig.beat()
    await planner.step()
    rows = sorted(rig.memory.tables.rows.values(), key=lambda row: row.rank)
    assert len(rows) == 5 * 22
    missed = [row.execution.fire_time < rig.clock.now() - 1500 for row in rows]
    assert missed == sorted(missed, reverse=True)


async def test_it_wakes_the_worker_for_what_it_queued(rig, planner):
    await rig.add(trigger=Every("1s"))
    await planner.step()
    assert rig.engine._loops["worker"].wake.is_set()


async def test_a_busy_gate_is_looked_at_at_the_instant_that_decides(rig, planner):
    await rig.add(trigger=Every("1s"), overlap=Overlap.QUEUE_ALL)
    await planner.step()
    assert sorted(await rig.states()) == [State.QUEUED, State.WAITING]
    await rig.clock.advance(1.9)
    rest = await planner.step()
    assert GATHER <= rest <= 0.1 + GATHER
    await rig.clock.advance(0.1)
    await planner.step()
    assert (await rig.states()).count(State.BLOCKED) == 1


async def test_without_a_recent_sample_of_the_stores_time_it_stands_still(rig, planner):
    await rig.add(trigger=Every("1s"))
    await rig.clock.advance(3 * rig.settings.beat + 1)
    with pytest.raises(StoreUnavailable):
        await planner.step()
    assert await rig.states() == []


async def test_a_job_that_cannot_be_planned_is_named_once_and_the_others_fire(
    rig, planner, monkeypatch
):
    bad = await rig.add("bad", trigger=Every("1s"))
    await rig.add("good", trigger=Every("1s"))
    sound = planning.plan

    def plan(job, *rest, **named):
        if job.name == "bad":
            raise ZeroDivisionError("no plan")
        return sound(job, *rest, **named)

    monkeypatch.setattr(module, "plan", plan)
    heard: list = []
    rig.engine.events.subscribe(heard.append)
    rests = [await planner.step() for _ in range(3)]
    assert min(rests) > 0
    assert [event for event in heard if isinstance(event, JobUnreadable)] == [
        JobUnreadable(job=bad.id, why="ZeroDivisionError: no plan")
    ]
    assert len(await rig.states()) == 2  # of the good one, within the horizon


async def test_what_it_plans_is_made_ready_ahead_one_job_of_a_kind(rig, planner):
    near = []
    assert planner.prepare == rig.engine.executor.prepare
    planner.prepare = lambda job: near.append(job.name)
    await rig.add("later", trigger=Every("1h"))
    await planner.step()
    assert near == []
    for number in range(3):
        await rig.add(f"job{number}", trigger=Every("1s"))
    await planner.step()
    assert near == ["job2"]


async def test_what_is_added_to_a_paused_project_does_not_fire_from_a_second_later_on(rig, planner):
    note = Pause(by="ann", why="", since=rig.clock.now(), scope=PauseScope.PROJECT)
    await planner.step()
    await write_pause(rig.memory, ProjectPause(project="default", pause=note), rig.clock.now())
    await rig.add("report", trigger=Every("1m"))
    await rig.clock.advance(LOOK)
    rig.clock.sample(rig.clock.now(), rig.clock.monotonic(), rig.clock.monotonic())
    await rig.clock.advance(60 - LOOK)
    rig.clock.sample(rig.clock.now(), rig.clock.monotonic(), rig.clock.monotonic())
    await planner.step()
    assert await rig.states() == []
    [entry] = await rig.memory.get_jobs("default", ["report"])
    assert entry.cursor.pause == note


async def test_pauses_and_windows_are_read_once_a_second_however_often_it_plans(rig, planner):
    for _ in range(5):
        await planner.step()
    assert len(rig.store.named("list_records")) == 2
    await rig.clock.advance(LOOK)
    rig.clock.sample(rig.clock.now(), rig.clock.monotonic(), rig.clock.monotonic())
    await planner.step()
    assert len(rig.store.named("list_records")) == 4


async def test_what_is_resumed_fires_at_once(rig, planner):
    note = Pause(by="ann", why="", since=rig.clock.now(), scope=PauseScope.PROJECT)
    pause = ProjectPause(project="default", pause=note)
    await write_pause(rig.memory, pause, rig.clock.now())
    await rig.add("report", trigger=Every("1s"))
    await planner.step()
    assert await rig.states() == []
    ended = replace(pause, phase=Phase.ENDING, ended_at=rig.clock.now())
    await write_pause(rig.memory, ended, rig.clock.now())
    await follow(rig.memory, rig.clock, "default")
    await planner.step()
    assert len(await rig.states()) == 2  # within the horizon


def a_window(rig, start, **fields):
    now = rig.clock.now()
    window = MaintenanceWindow(
        project="default",
        name="move",
        trigger=Once(to_datetime(now + start)),
        duration=10_000,
        by="ann",
        changed_at=now,
        **fields,
    )
    return Record(
        kind=MAINTENANCE_KIND,
        project=PLATFORM_PROJECT,
        key=window.key,
        document=to_document(window),
    )


async def pass_time(rig, seconds):
    await rig.clock.advance(seconds)
    rig.clock.sample(rig.clock.now(), rig.clock.monotonic(), rig.clock.monotonic())


async def test_what_it_planned_into_a_window_that_it_had_not_heard_of_is_taken_back(rig, planner):
    await rig.add("report", trigger=Every("500ms"))
    await planner.step()
    began = rig.clock.now()
    heard: list = []
    rig.engine.events.subscribe(heard.append, {FiresSkipped})
    await rig.memory.put_record(a_window(rig, 1000), began)
    await pass_time(rig, LOOK / 2)
    await planner.step()  # within a second of its last look it plans as before
    await pass_time(rig, LOOK / 2)
    await planner.step()
    page = await rig.memory.list_executions(ExecutionFilter())
    inside = {row.reason for row in page.items if row.fire_time >= began + 1000}
    assert inside == {Reason.MAINTENANCE}
    assert {row.state for row in page.items if row.fire_time < began + 1000} == {State.QUEUED}
    skips = [skip for event in heard if isinstance(event, FiresSkipped) for _, skip in event.skips]
    assert {skip.reason for skip in skips} == {Reason.MAINTENANCE}
    await pass_time(rig, 10)
    await planner.step()
    page = await rig.memory.list_executions(ExecutionFilter(since=began + 11_000))
    assert {row.reason for row in page.items} == {None}


async def test_jobs_that_no_window_covers_are_planned_without_a_look_at_it(rig, planner):
    await rig.memory.put_record(a_window(rig, 0, tags=("db",)), rig.clock.now())
    await rig.add("report", trigger=Every("1s"))
    await planner.step()
    assert len(await rig.states()) == 2  # within the horizon
    [entry] = await rig.memory.get_jobs("default", ["report"])
    assert planner.maintenance.of(entry.job) is None


async def test_a_window_of_a_newer_version_stops_no_planner(rig, planner):
    unknown, further = a_window(rig, 0), a_window(rig, 1000)
    unknown.key, unknown.document = "default/new", unknown.document | {"trigger": {"tides": "high"}}
    further.document |= {"something": "new"}
    for record in (unknown, further):
        await rig.memory.put_record(record, rig.clock.now())
    await rig.add("report", trigger=Every("500ms"))
    began = rig.clock.now()
    await planner.step()
    page = await rig.memory.list_executions(ExecutionFilter())
    assert [row.fire_time - began for row in page.items] == [500]
