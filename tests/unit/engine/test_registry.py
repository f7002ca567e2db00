"""Every process has a row in the store, and only workers count as able to run anything."""

from tests.unit.engine.rig import Rig
from tickwell.domain.coverage import Coverage
from tickwell.domain.execution import State
from tickwell.release import VERSION


async def rows(rig):
    return {one.worker.id: one.worker for one in await rig.memory.list_workers()}


async def test_a_row_says_what_its_process_is(rig):
    await rig.beat()
    [found] = (await rows(rig)).values()
    assert (found.roles, found.version) == (("planner", "worker"), VERSION)
    assert (found.busy, found.capacity) == (0, rig.worker.capacity)
    assert found.beat_every == rig.settings.beat * 1000


async def test_slots_that_are_taken_are_told_with_the_beat(rig):
    await rig.beat()
    next(iter(rig.worker.lanes)).busy = 3
    await rig.beat()
    [found] = (await rows(rig)).values()
    assert found.busy == 3


async def test_a_process_without_the_worker_role_can_run_nothing(rig):
    rig.engine.roles = frozenset({"planner"})
    await rig.beat()
    [found] = (await rows(rig)).values()
    assert (found.roles, found.queues, found.abilities, found.capacity) == (("planner",), (), (), 0)
    coverage = Coverage(await rig.memory.list_workers())
    assert coverage.lane_gap("default", "call:quick") == "no live worker serves queue 'default'"


async def test_work_is_parked_although_a_planner_is_alive(rig):
    id = await rig.request(await rig.add())
    rig.engine.roles = frozenset({"planner", "api"})
    await rig.clock.advance(60)
    await rig.beat()
    await rig.reaper.housekeeping.run(await rig.memory.list_workers())
    assert await rig.state(id) is State.PARKED


async def test_a_planner_is_no_company_in_a_burst(rig):
    other = Rig(clock=rig.clock, memory=rig.memory, seed=2)
    other.engine.roles = frozenset({"planner"})
    await rig.beat()
    await other.beat()
    rig.worker.company.learn(await rig.memory.list_workers())
    assert {lane.company for lane in rig.worker.lanes} == {1}
    other.engine.roles = frozenset({"planner", "worker"})
    await other.beat()
    rig.worker.company.learn(await rig.memory.list_workers())
    assert {lane.company for lane in rig.worker.lanes} == {2}


async def test_a_role_that_is_announced_later_is_in_the_next_beat(rig):
    await rig.beat()
    rig.engine.announce("api")
    await rig.beat()
    [found] = (await rows(rig)).values()
    assert found.roles == ("api", "planner", "worker")
