"""A project whose attempts hang takes its share of the slots and no more."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.engine.rig import LoopClock, Rig, virtually
from tickwell.domain.execution import OutcomeKind, State
from tickwell.domain.fairness import (
    LIMITS_KIND,
    NO_LIMIT,
    PLATFORM_PROJECT,
    PROJECT_KIND,
    seats,
)
from tickwell.domain.gate import Overlap
from tickwell.domain.trigger import Every
from tickwell.engine.claiming.tenant_limits import AT_ONCE, SOME
from tickwell.errors import InvalidSetting, StoreUnavailable
from tickwell.ports.records import ExecutionFilter, Record
from tickwell.settings import Settings
from tickwell.testing.executors import succeeds


async def make_project(rig, name, **document):
    record = Record(kind=PROJECT_KIND, project=PLATFORM_PROJECT, key=name, document=document)
    await rig.memory.put_record(record, rig.clock.now())


async def limit(rig, project, running):
    record = Record(
        kind=LIMITS_KIND, project=project, key=LIMITS_KIND, document={"running": running}
    )
    await rig.memory.put_record(record, rig.clock.now())


async def found(rig, id, project="loud"):
    execution = await rig.memory.get_execution(project, id)
    assert execution is not None
    return execution


async def step(rig):
    await rig.worker.step()
    await rig.settle()
    await rig.reporter.step()


async def crowd(rig, count, **options):
    """A project with as many runs, all of which hang."""
    job = await rig.add("loud", project="loud", **options)
    rig.executor.hold("quick")
    await rig.beat()
    return [await rig.request(job) for _ in range(count)]


def test_the_seats_are_a_part_of_the_slots():
    assert seats(100, 1.0) == NO_LIMIT
    assert seats(100, 0.8) == 80
    assert seats(1, 0.8) == 1


@pytest.mark.parametrize("made", [[], ["default"]])
async def test_who_is_alone_takes_all_slots(made):
    rig = Rig(capacity=10, lead=0.0)
    for name in made:
        await make_project(rig, name)
    await make_project(rig, "gone", deleted_at=1)
    await crowd(rig, 30)
    await step(rig)
    assert len(rig.executor.calls) == 10


async def test_a_project_among_others_leaves_slots_free():
    rig = Rig(capacity=10, lead=0.0)
    await make_project(rig, "loud")
    await crowd(rig, 30)
    await step(rig)
    assert len(rig.executor.calls) == 8
    other = await rig.add("job", handler="other", project="quiet")
    id = await rig.request(other)
    for _ in range(10):
        await step(rig)
    assert (await found(rig, id, "quiet")).state is State.SUCCEEDED
    assert (len(rig.executor.calls), await rig.running()) == (9, 8)


async def test_many_deleted_projects_hide_nobody():
    rig = Rig(capacity=10, lead=0.0)
    for number in range(SOME):
        await make_project(rig, f"gone-{number:03}", deleted_at=1)
    await make_project(rig, "loud")
    await crowd(rig, 30)
    await step(rig)
    assert len(rig.executor.calls) == 8


async def test_what_is_put_off_costs_nothing_and_runs_when_a_slot_comes_free():
    rig = Rig(capacity=10, lead=0.0)
    await make_project(rig, "loud")
    ids = await crowd(rig, 12)
    await step(rig)
    await step(rig)
    waiting = [await found(rig, id) for id in ids]
    late = [one for one in waiting if one.state is State.WAITING]
    assert len(late) == 4
    for one in late:
        assert (one.attempt, one.charged, one.returned) == (1, 0, 0)
        assert one.run_at >= rig.clock.now() + 500
        assert one.attempts[0].outcome is OutcomeKind.RELEASED
        assert "its project uses its 8 of" in (one.attempts[0].error or "")
    rig.executor.release("quick")
    await rig.settle()
    await rig.clock.advance(2)
    await rig.memory.promote(rig.clock.now(), 0, 100)
    for _ in range(3):
        await step(rig)
    assert set(await rig.states()) == {State.SUCCEEDED}
    assert len(rig.executor.calls) == 12


async def test_a_worker_that_has_just_started_keeps_to_the_limit_of_a_project():
    rig = Rig(capacity=10, lead=0.0)
    await limit(rig, "loud", 2)
    await crowd(rig, 30)
    await rig.worker.recall.look()
    rig.store.before["get_record"] = 1
    with pytest.raises(StoreUnavailable):
        await rig.worker.step()
    assert (await rig.running(), len(rig.executor.calls)) == (10, 0)
    await step(rig)
    assert len(rig.executor.calls) == 2


async def test_the_limits_of_many_projects_are_read_a_few_at_each_step():
    rig = Rig(capacity=10, lead=0.0)
    (lane,), shares = rig.worker.lanes, rig.worker.shares
    names = [f"project-{number}" for number in range(AT_ONCE + 5)]
    claims: Any = [SimpleNamespace(job=SimpleNamespace(project=name)) for name in names]
    await shares.meet(claims, rig.worker.lanes, lambda _claim: lane)
    for name in names:
        lane.share_of(name)
        await limit(rig, name, 3)
    await shares.look(rig.worker.lanes)
    assert [lane.shares[name].limit for name in names].count(3) == AT_ONCE
    await shares.look(rig.worker.lanes)
    assert [lane.shares[name].limit for name in names].count(3) == len(names)


async def test_a_limit_that_is_raised_lets_in_what_is_held(rigs):
    rig = rigs(capacity=10, lead=0.5, max_running=2)
    await crowd(rig, 6)
    await step(rig)
    (lane,) = rig.worker.lanes
    assert (len(rig.executor.calls), lane.held(), lane.in_hand) == (2, 4, 6)
    lane.share_of("loud").seats = 5
    await step(rig)
    assert (len(rig.executor.calls), lane.held(), lane.in_hand) == (5, 1, 6)


async def test_what_is_held_is_cancelled_and_given_back_like_the_rest():
    rig = Rig(capacity=10, lead=0.5, max_running=1)
    first, second, third = await crowd(rig, 3)
    await step(rig)
    (lane,) = rig.worker.lanes
    rig.runner.cancel(second, 1)
    rig.executor.release("quick")
    await rig.settle()
    assert [call.id for call in rig.executor.calls] == [first, third]
    assert (lane.held(), lane.in_hand, lane.busy, lane.share_of("loud").in_hand) == (0, 0, 0, 0)


async def test_what_is_held_for_an_instant_waits_for_its_share_too():
    rig = Rig(capacity=10, lead=0.5, max_running=1)
    job = await rig.add("loud", project="loud")
    rig.executor.hold("quick")
    await rig.beat()
    for _ in range(3):
        await rig.request(job, in_seconds=0.2)
    other = await rig.add("job", handler="other", project="quiet")
    await rig.request(other, in_seconds=0.2)
    await rig.worker.step()
    await rig.clock.advance(0.2)
    await rig.settle()
    assert sorted(call.handler for call in rig.executor.calls) == ["other", "quick"]
    await rig.clock.advance(1)
    await step(rig)
    assert await rig.running() == 1  # the others are put off
    rig.executor.release("quick")
    await rig.settle()
    (lane,) = rig.worker.lanes
    assert (lane.held(), lane.in_hand, lane.busy) == (0, 0, 0)


async def lateness(rig, seconds):
    """How late each fire of the quiet project started, in milliseconds, the latest first."""
    every = Every("100ms")
    await rig.add("quiet", "other", every, project="quiet", overlap=Overlap.ALLOW)
    await rig.engine.start()
    await rig.clock.wait(rig.let_go, seconds)
    where = ExecutionFilter(project="quiet", states=frozenset({State.SUCCEEDED}))
    ran = (await rig.memory.list_executions(where, limit=10_000)).items
    return sorted((one.started_at - one.run_at for one in ran), reverse=True)


@virtually
async def test_hosts_that_hang_do_not_make_others_late():
    solo = await lateness(Rig(clock=LoopClock(), capacity=10), 120)
    rig = Rig(clock=LoopClock(), capacity=10)
    await make_project(rig, "loud")
    await crowd(rig, 1000)
    beside = await lateness(rig, 120)
    assert len(solo) == len(beside)
    assert beside[len(beside) // 100] <= 2 * max(solo[len(solo) // 100], 1)
    hanging = [call for call in rig.executor.calls if call.handler == "quick"]
    assert len(hanging) == 8


@virtually
async def test_coming_back_in_vain_is_rare():
    rig = Rig(clock=LoopClock(), capacity=10)
    await make_project(rig, "loud")
    ids = await crowd(rig, 1000)
    await lateness(rig, 240)
    tries = [(await found(rig, id)).attempt for id in ids]
    assert sum(tries) < 5 * len(ids)


@virtually
async def test_a_share_is_used_to_the_full():
    rig = Rig(clock=LoopClock(), capacity=10)
    await make_project(rig, "loud")

    async def take_a_second(_claim):
        await rig.clock.wait(asyncio.Event(), 1)
        return succeeds()

    rig.executor.script("quick", take_a_second)
    job = await rig.add("loud", project="loud")
    ids = [await rig.request(job) for _ in range(400)]
    await rig.engine.start()
    await rig.clock.wait(rig.let_go, 60)  # eight at once could do it in 50 seconds
    tries = [(await found(rig, id)).attempt for id in ids]
    assert set(await rig.states()) == {State.SUCCEEDED}
    assert sum(tries) < 4 * len(ids)


@virtually
async def test_what_is_new_does_not_wait_for_turns_given_while_hosts_hung():
    rig = Rig(clock=LoopClock(), capacity=10)
    await make_project(rig, "loud")
    await crowd(rig, 1000)
    await rig.engine.start()
    await rig.clock.wait(rig.let_go, 400)

    async def take_a_second(_claim):
        await rig.clock.wait(asyncio.Event(), 1)
        return succeeds()

    rig.executor.script("quick", take_a_second)
    rig.executor.release("quick")
    await rig.clock.wait(rig.let_go, 60)
    [entry] = await rig.memory.get_jobs("loud", ["loud"])
    ids = [await rig.request(entry.job) for _ in range(40)]
    rig.engine.wake()
    await rig.clock.wait(rig.let_go, 20)  # eight at once could do it in 5 seconds
    assert {(await found(rig, id)).state for id in ids} == {State.SUCCEEDED}


async def test_a_lane_without_a_free_slot_for_a_minute_is_told():
    rig = Rig(capacity=2, lead=0.0)
    await crowd(rig, 2)
    await step(rig)
    await rig.clock.advance(60)
    assert rig.engine.health().full == []
    await rig.clock.advance(1)
    assert rig.engine.health().full == [
        "all capacity for tasks is in use (2); no attempt has ended for 61 s"
    ]


def test_a_share_is_a_part():
    for share in (0.0, 1.1):
        with pytest.raises(InvalidSetting, match="up to 1"):
            Settings(project_share=share)
