"""Missed fires are held and answered: what people and other services see of it."""

import pytest

from tickwell.domain.backlog import BacklogAnswer, BacklogGate
from tickwell.domain.change import pause
from tickwell.domain.execution import State
from tickwell.domain.gate import Overlap
from tickwell.domain.planning import plan
from tickwell.domain.policy import HOUR, MINUTE, Misfire, OnMisfire
from tickwell.domain.trigger import Every
from tickwell.errors import InvalidInput, NotFound, WrongState
from tickwell.ports.records import ExecutionFilter
from tickwell.services.jobs.backlogs import Backlogs
from tickwell.services.jobs.fire_times import next_fire
from tickwell.services.slots.slots import Answer

TEN = 1_781_517_600_000
BACK = TEN + HOUR
GATE = BacklogGate(job=10, room=10_000, wait=HOUR, answer=BacklogAnswer.LATEST)


@pytest.fixture
def backlogs(world):
    return Backlogs(world.store, world.clock, world.wake)


async def held(world, *names):
    """Jobs that fire every minute and missed an hour of it."""
    fields = {"misfire": Misfire(policy=OnMisfire.ALL), "overlap": Overlap.ALLOW}
    for name in names:
        await world.jobs.add(world.job(Every("1m"), name, **fields))
    world.clock.instant = BACK
    await fire(world)


async def fire(world):
    now = world.clock.now()
    await world.store.fire_due(
        now, 0, 100, lambda job, cursor: plan(job, cursor, now, 0, gate=GATE)
    )


async def later_starts(world):
    """When executions start after the outage, from its end on."""
    found = await world.executions.list(ExecutionFilter(project="default"), limit=500)
    return sorted(each.run_at - BACK for each in found.items if each.run_at > BACK)


async def test_slots_are_held_until_they_are_answered(world, backlogs):
    await held(world, "report")
    counted = await world.slots.completeness("default", "report", TEN + 1, BACK + 1)
    assert (counted.executed, counted.skipped_by_reason, counted.unanswered) == (1, {"held": 59}, 0)
    page = await world.slots.read("default", "report", TEN + MINUTE, TEN + 2 * MINUTE)
    assert [slot.answer for slot in page.items] == [Answer.HELD]
    done = await backlogs.answer(await backlogs.held("default"), BacklogAnswer.LATEST)
    assert (done.jobs, done.runs, done.skipped) == (1, 1, 58)
    assert world.woken > 0
    counted = await world.slots.completeness("default", "report", TEN + 1, BACK + 1)
    assert (counted.executed, counted.skipped_by_reason) == (2, {"backlog": 58})


async def test_the_next_fire_is_one_of_the_trigger_while_fires_are_held(world):
    await held(world, "report")
    assert next_fire(await world.jobs.get("default", "report")) == BACK + MINUTE


async def test_all_jobs_together_keep_to_the_rate(world, backlogs):
    await held(world, "one", "two")
    found = await backlogs.held("default")
    assert [(each.job.name, each.backlog.count) for each in found] == [("one", 59), ("two", 59)]
    done = await backlogs.answer(found, BacklogAnswer.ALL, rate=4)
    assert (done.jobs, done.runs, done.skipped) == (2, 118, 0)
    assert await later_starts(world) == [250 * n for n in range(1, 118)]


async def test_one_job_is_answered_by_its_name(world, backlogs):
    await held(world, "one", "two")
    await backlogs.answer([await backlogs.of_job("default", "two")], BacklogAnswer.SKIP)
    assert [each.job.name for each in await backlogs.held()] == ["one"]
    with pytest.raises(WrongState, match="without held fires"):
        await backlogs.of_job("default", "two")
    with pytest.raises(NotFound):
        await backlogs.of_job("default", "three")


async def test_paused_jobs_go_on_holding_and_are_named(world, backlogs):
    await held(world, "one", "two")
    one = await world.jobs.get("default", "one")
    await world.store.change_jobs("default", [one.job.id], pause("ann", "wait"), BACK)
    done = await backlogs.answer(await backlogs.held("default"), BacklogAnswer.LATEST)
    assert (done.jobs, done.runs, done.paused) == (1, 1, ["one"])
    done = await backlogs.answer(await backlogs.held("default"), BacklogAnswer.SKIP)
    assert (done.jobs, done.skipped, done.paused) == (1, 59, [])
    assert await backlogs.held("default") == []


async def test_a_held_slot_can_be_run_by_a_backfill_and_runs_once(world, backlogs):
    await held(world, "report")
    first = TEN + MINUTE
    await world.executions.backfill("default", "report", first, first + 1)
    await backlogs.answer(await backlogs.held("default"), BacklogAnswer.ALL, rate=1000)
    found = [
        one
        for one in (await world.executions.list(ExecutionFilter(project="default"))).items
        if one.fire_time == first
    ]
    assert len(found) == 1
    assert found[0].state is not State.SKIPPED


@pytest.mark.parametrize("rate", [0, 1001, -1])
async def test_a_rate_out_of_range_is_refused(backlogs, rate):
    with pytest.raises(InvalidInput, match=r"0.01 to 1000 runs a second"):
        await backlogs.answer([], BacklogAnswer.ALL, rate)
