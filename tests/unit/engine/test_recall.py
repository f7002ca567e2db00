"""What came due while no process was there, although it had been planned ahead."""

from dataclasses import replace

import pytest

from tests.unit.engine.rig import Rig
from tickwell.domain.change import recall
from tickwell.domain.execution import Execution, Kind, State
from tickwell.domain.gate import Overlap
from tickwell.domain.planning import live_since, new_execution
from tickwell.domain.policy import MINUTE, Misfire
from tickwell.domain.trigger import Every
from tickwell.errors import StoreUnavailable
from tickwell.ids import execution_id
from tickwell.ports.records import ClaimRequest, ExecutionFilter, Fired
from tickwell.testing.clock import START
from tickwell.testing.contract.builders import a_job, a_worker

#: Horizon 2 s: planned ahead are the fires at 1 s and 2 s.
SECOND = 1_000


def at(seconds):
    return START + int(seconds * SECOND)


async def work(rig, rounds=12):
    """Plan, claim, run and report until nothing moves."""
    planner = rig.engine._loops["planner"].service
    await (rig.engine.pulse.step() if hasattr(rig.engine, "_started_at") else rig.beat())
    for _ in range(rounds):
        await planner.step()
        await rig.worker.step()
        await rig.settle()
        await rig.reporter.step()
        await rig.settle()


async def plan_ahead(rig):
    await rig.beat()
    await rig.engine._loops["planner"].service.step()


async def crash(rig, seconds):
    """The process is gone at once; another begins after so many seconds."""
    for one in await rig.memory.list_workers():
        await rig.memory.declare_lost(one.worker.id, one.beat, rig.clock.now())
    rig.clock.jump(seconds)
    return Rig(clock=rig.clock, memory=rig.memory, seed=2)


async def stop(rig, seconds):
    """The process ends in good order; another begins after so many seconds."""
    rig.worker.draining = True
    rig.worker.release_waiting()
    await rig.reporter.step()
    await rig.worker.recall.leave()
    await rig.engine.pulse.leave()
    rig.clock.jump(seconds)
    return Rig(clock=rig.clock, memory=rig.memory, seed=2)


async def freeze(rig, seconds):
    rig.clock.jump(seconds)
    return rig


async def outage(rig, seconds):
    rig.store.away = True
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            await rig.engine._loops["planner"].service.step()
        with pytest.raises(StoreUnavailable):
            await rig.worker._step()
        rig.clock.jump(seconds / 2)
    rig.store.away = False
    return rig


def a_claim(worker, now):
    return ClaimRequest(
        worker=worker,
        claim_id="claim",
        now=now,
        lead=0,
        limit=10,
        queues=("default",),
        abilities=frozenset({"call:quick"}),
    )


ABSENCES = pytest.mark.parametrize("absence", [crash, stop, freeze, outage])


async def ran(rig):
    page = await rig.memory.list_executions(ExecutionFilter(), limit=1000)
    return sorted(one.fire_time for one in page.items if one.state is State.SUCCEEDED)


async def skipped(rig):
    """The fire times of rows that were skipped, with their reasons."""
    page = await rig.memory.list_executions(ExecutionFilter(), limit=1000)
    rows = sorted(page.items, key=lambda one: one.fire_time)
    return [(one.fire_time, one.reason) for one in rows if one.state is State.SKIPPED]


async def answered(rig, until):
    """Fire times with an answer of their own, or within a range skip."""
    page = await rig.memory.list_executions(ExecutionFilter(), limit=1000)
    times = {one.fire_time for one in page.items if one.fire_time <= until}
    for skip in await rig.memory.list_skips("job", 0, until + 1):
        times.update(range(skip.first, skip.last + 1, SECOND))
    return sorted(times)


@ABSENCES
async def test_with_skip_what_was_planned_ahead_does_not_run_late(absence):
    rig = Rig()
    await rig.add(trigger=Every("1h", phase="1s"), misfire=Misfire(policy="skip", grace="500ms"))
    await plan_ahead(rig)
    await rig.worker.step()
    rig = await absence(rig, 12.8)
    await work(rig)
    assert (await ran(rig), await skipped(rig)) == ([], [(at(1), "misfire")])


@ABSENCES
async def test_with_latest_the_newest_runs_and_the_stale_ones_do_not(absence):
    rig = Rig()
    await rig.add(trigger=Every("1s"), misfire=Misfire(policy="latest", grace="0s"))
    await plan_ahead(rig)
    await rig.worker.step()
    rig = await absence(rig, 12.5)
    await work(rig)
    assert await ran(rig) == [at(12)]
    assert await skipped(rig) == [(at(1), "misfire"), (at(2), "misfire")]
    assert await answered(rig, at(12)) == [at(n) for n in range(1, 13)]


@ABSENCES
async def test_with_latest_the_newest_runs_even_if_it_was_planned_ahead(absence):
    rig = Rig()
    await rig.add(trigger=Every("1h", phase="1s"), misfire=Misfire(policy="latest", grace="500ms"))
    await plan_ahead(rig)
    await rig.worker.step()
    rig = await absence(rig, 12.5)
    await work(rig)
    assert (await ran(rig), await skipped(rig)) == ([at(1)], [])


@ABSENCES
async def test_with_all_the_newest_run_up_to_the_cap(absence):
    rig = Rig()
    await rig.add(trigger=Every("1s"), misfire=Misfire(policy="all", grace="0s", cap=5))
    await plan_ahead(rig)
    await rig.worker.step()
    rig = await absence(rig, 12.5)
    await work(rig, 20)
    assert await ran(rig) == [at(n) for n in range(8, 13)]
    assert await answered(rig, at(12)) == [at(n) for n in range(1, 13)]


@ABSENCES
@pytest.mark.parametrize("overlap", [Overlap.SKIP, Overlap.QUEUE_ONE, Overlap.ALLOW])
@pytest.mark.parametrize("policy", ["skip", "latest"])
async def test_what_came_due_within_the_grace_runs_one_after_the_other(absence, overlap, policy):
    rig = Rig()
    misfire = Misfire(policy=policy, grace="10s")
    await rig.add(trigger=Every("1s"), overlap=overlap, misfire=misfire)
    await plan_ahead(rig)
    await rig.worker.step()
    rig = await absence(rig, 5.5)
    await work(rig, 20)
    assert (await ran(rig), await skipped(rig)) == ([at(n) for n in range(1, 6)], [])


@ABSENCES
async def test_every_fire_within_an_absence_counts_towards_max_runs(absence):
    rig = Rig()
    trigger = Every("1s", max_runs=4)
    await rig.add(trigger=trigger, misfire=Misfire(policy="skip", grace="10s"))
    await plan_ahead(rig)
    await rig.worker.step()
    rig = await absence(rig, 5.5)
    await work(rig, 20)
    assert (await ran(rig), await skipped(rig)) == ([at(n) for n in range(1, 5)], [])


@ABSENCES
async def test_misfires_do_not_count_towards_max_runs(absence):
    rig = Rig()
    await rig.add(trigger=Every("1s", max_runs=2), misfire=Misfire(policy="latest", grace="0s"))
    await plan_ahead(rig)
    await rig.worker.step()
    rig = await absence(rig, 5.5)
    await work(rig)
    assert await ran(rig) == [at(5)]
    await rig.clock.advance(0.5)
    await work(rig)
    assert await ran(rig) == [at(5), at(6)]


@ABSENCES
async def test_a_run_that_counts_from_the_end_of_the_last_is_skipped_too(absence):
    rig = Rig()
    trigger = Every("1s", after="finish")
    await rig.add(trigger=trigger, misfire=Misfire(policy="skip", grace="500ms"))
    await plan_ahead(rig)
    await rig.worker.step()
    rig = await absence(rig, 12.8)
    await work(rig)
    assert (await ran(rig), await skipped(rig)) == ([], [(at(1), "misfire")])
    rig.clock.jump(1)
    await work(rig)
    assert await ran(rig) == [at(13.8)]


async def test_a_run_that_was_live_all_the_while_overlaps():
    rig = Rig()
    await rig.add(trigger=Every("1s"), misfire=Misfire(policy="skip", grace="10s"))
    rig.executor.hold("quick")
    await plan_ahead(rig)
    rig.clock.jump(1)
    await work(rig, 1)
    assert await rig.running() == 1
    await outage(rig, 4.5)
    await work(rig, 4)
    assert await skipped(rig) == [(at(n), "overlap") for n in range(2, 6)]
    rig.executor.release("quick")
    await work(rig, 4)
    assert await ran(rig) == [at(1)]


async def test_a_run_that_ended_while_the_store_was_away_does_not_overlap():
    rig = Rig()
    await rig.add(trigger=Every("1s"), misfire=Misfire(policy="skip", grace="10s"))
    rig.executor.hold("quick")
    await plan_ahead(rig)
    rig.clock.jump(1)
    await work(rig, 1)
    rig.store.away = True
    rig.executor.release("quick")
    await rig.settle()
    assert await rig.running() == 1  # as far as the store knows
    await outage(rig, 4.5)
    await work(rig, 20)
    assert (await ran(rig), await skipped(rig)) == ([at(n) for n in range(1, 6)], [])


@pytest.mark.parametrize("is_back", [False, True])
async def test_one_fire_alone_waits_for_a_run_whose_worker_is_not_back(is_back):
    rig = Rig()
    other = Rig(clock=rig.clock, memory=rig.memory, seed=2)
    await rig.add(trigger=Every("1s"), misfire=Misfire(policy="skip", grace="10s"))
    other.executor.hold("quick")
    await plan_ahead(rig)
    rig.clock.jump(1)
    await work(other, 1)
    await outage(rig, 1.9)
    if is_back:
        await other.engine.pulse.step()
    await work(rig, 4)
    assert await skipped(rig) == ([(at(2), "overlap")] if is_back else [])
    other.executor.release("quick")
    await work(other, 1)
    await work(rig, 20)
    assert await ran(rig) == [at(1)] + ([] if is_back else [at(2)])


@pytest.mark.parametrize("is_back", [False, True])
async def test_a_run_elsewhere_overlaps_once_its_worker_is_back_after_an_outage(is_back):
    rig = Rig()
    other = Rig(clock=rig.clock, memory=rig.memory, seed=2)
    await rig.add(trigger=Every("1s"), misfire=Misfire(policy="skip", grace="10s"))
    other.executor.hold("quick")
    await plan_ahead(rig)
    rig.clock.jump(1)
    await work(other, 1)
    assert await rig.running() == 1
    await outage(rig, 4.5)
    if is_back:
        await other.engine.pulse.step()
    await work(rig, 4)
    overlapped = [(at(n), "overlap") for n in range(2, 6)]
    assert await skipped(rig) == (overlapped if is_back else [])
    other.executor.release("quick")
    await work(other, 1)
    await work(rig, 20)
    assert await ran(rig) == [at(n) for n in ([1] if is_back else range(1, 6))]


@pytest.mark.parametrize("recovered", [True, False])
async def test_a_run_that_was_lost_with_its_process_does_not_overlap(recovered):
    rig = Rig(lead=0.5)
    await rig.add(trigger=Every("1s"), misfire=Misfire(policy="skip", grace="10s"))
    await plan_ahead(rig)
    rig.clock.jump(0.6)
    await work(rig, 1)
    assert await rig.running() == 1  # held for its instant
    rig = await crash(rig, 4.9)
    if recovered:
        await rig.engine.reaper.step()
    await work(rig, 1)
    await rig.engine.reaper.step()
    for _ in range(6):  # what was lost is tried again after a while
        await rig.clock.advance(0.5)
        await work(rig, 6)
    assert {at(n) for n in range(1, 6)} <= set(await ran(rig))
    assert {fire for fire, _ in await skipped(rig)}.isdisjoint(at(n) for n in range(1, 6))


async def test_jobs_that_another_planner_had_locked_are_planned_as_after_an_absence(monkeypatch):
    rig = Rig()
    await rig.add(trigger=Every("1s"), misfire=Misfire(policy="skip", grace="10s"))
    await plan_ahead(rig)
    rig = await stop(rig, 5.5)
    planner = rig.engine._loops["planner"].service

    async def all_locked(*_, **__):
        return Fired()

    with monkeypatch.context() as other_planner:
        other_planner.setattr(rig.memory, "fire_due", all_locked)
        await rig.beat()
        await planner.step()
    await planner.step()
    assert {fire for fire, _ in await skipped(rig)}.isdisjoint(at(n) for n in range(1, 6))
    await work(rig)
    assert {at(n) for n in range(1, 6)} <= set(await ran(rig))


def test_a_run_that_was_released_overlaps_from_its_new_start_only():
    job = a_job()
    handed_over = at(9)
    deadline = handed_over + job.timeout.hard + MINUTE
    run = Execution(
        id="x",
        job_id=job.id,
        project="default",
        job_version=1,
        kind=Kind.FIRE,
        ability="call:x",
        created_at=at(0),
        queue="default",
        fire_time=at(1),
        run_at=at(1),
        attempt=2,
        charged=1,
        deadline=deadline,
        state=State.RUNNING,
    )
    assert live_since(run, job) == handed_over
    failed_before = replace(run, charged=2)
    assert live_since(failed_before, job) == at(1)


async def test_a_backlog_is_no_absence():
    rig = Rig(capacity=1)
    quick = Misfire(policy="skip", grace="100ms")
    await rig.add(trigger=Every("1h", phase="1s"), misfire=quick)
    rig.executor.hold("other")
    await rig.request(await rig.add("long", handler="other"))
    await work(rig, 1)
    for _ in range(20):  # all are there, and the only slot is taken
        rig.clock.jump(1)
        await work(rig, 1)
    assert await ran(rig) == []
    rig.executor.release("other")
    await work(rig)
    assert at(1) in await ran(rig)


async def test_a_backlog_from_before_a_clean_stop_runs_after_it():
    rig = Rig(capacity=1, cold=True)  # so it claims nothing that it cannot start
    quick = Misfire(policy="skip", grace="100ms")
    await rig.add(trigger=Every("1h", phase="1s"), misfire=quick)
    rig.executor.hold("other")
    await rig.request(await rig.add("long", handler="other"))
    await work(rig, 1)
    for _ in range(20):  # all are there, and the only slot is taken
        rig.clock.jump(1)
        await work(rig, 1)
    rig.executor.release("other")
    await rig.settle()
    assert (await ran(rig), State.QUEUED in await rig.states()) == ([], True)
    rig = await stop(rig, 60)
    await work(rig)
    assert (await skipped(rig), at(1) in await ran(rig)) == ([], True)


async def test_what_another_process_was_there_for_is_left_to_it():
    first = Rig(capacity=1, cold=True)  # so it claims nothing that it cannot start
    quick = Misfire(policy="skip", grace="100ms")
    await first.add(trigger=Every("1h", phase="1s"), misfire=quick)
    first.executor.hold("other")
    await first.request(await first.add("long", handler="other"))
    await work(first, 1)
    for _ in range(20):
        first.clock.jump(1)
        await work(first, 1)
    second = Rig(clock=first.clock, memory=first.memory, seed=2)
    await work(second)
    assert await ran(second) == [at(1)]


async def test_what_another_process_recalled_does_not_overlap_with_a_later_fire():
    rig = Rig()
    await rig.add(trigger=Every("1s"), misfire=Misfire(policy="skip", grace="10s"))
    await plan_ahead(rig)
    rig.clock.jump(1.1)  # too short for an absence of this process
    # The other one does not know that this one is alive. The permit goes to the fire at 2 s.
    await rig.memory.change_jobs("default", ["job"], recall([at(1)]), rig.clock.now())
    await work(rig, 3)
    rig.clock.jump(1)
    await work(rig, 3)
    assert (sorted(await ran(rig)), await skipped(rig)) == ([at(1), at(2)], [])


async def test_what_waited_before_the_absence_waits_on():
    rig = Rig()
    misfire = Misfire(policy="skip", grace="100ms")
    await rig.add(trigger=Every("1h", phase="1s"), misfire=misfire, overlap=Overlap.QUEUE_ALL)
    rig.executor.hold("quick")
    await plan_ahead(rig)
    rig.clock.jump(1)
    await work(rig, 2)
    rig.clock.jump(3_598)
    for _ in range(3):
        await work(rig, 1)
        rig.clock.jump(1)
    assert State.BLOCKED in await rig.states()
    rig.executor.release("quick")
    rig = await stop(rig, 60)
    await work(rig)
    assert await skipped(rig) == []


async def test_what_is_held_for_its_instant_when_the_process_stands_still_is_judged_as_well():
    rig = Rig(lead=0.5)
    await rig.add(trigger=Every("1h", phase="400ms"), misfire=Misfire(policy="skip", grace="500ms"))
    await plan_ahead(rig)
    await rig.worker.step()
    assert await rig.running() == 1
    rig.clock.jump(12.4)
    await rig.clock.advance(0.4)  # its timer is the first to notice
    assert rig.executor.calls == []
    await work(rig)
    assert (await ran(rig), await skipped(rig)) == ([], [(at(0.4), "misfire")])


async def test_what_was_claimed_when_the_process_stood_still_is_judged_as_well(monkeypatch):
    """The reply was on its way: it is the first thing that the process sees."""
    rig = Rig()
    await rig.add(trigger=Every("1s"), misfire=Misfire(policy="skip", grace="500ms"))
    await plan_ahead(rig)
    await rig.worker.step()
    claim = rig.memory.claim

    async def stand_still(request):
        claims = await claim(request)
        rig.clock.jump(2.7)
        return claims

    rig.clock.jump(0.6)
    with monkeypatch.context() as patch:
        patch.setattr(rig.memory, "claim", stand_still)
        await rig.worker.step()
    await work(rig)
    assert await ran(rig) == [at(3)]
    assert at(1) in await answered(rig, at(3))


async def test_a_backfill_of_what_was_recalled_runs():
    rig = Rig()
    job = await rig.add(
        trigger=Every("1h", phase="1s"), misfire=Misfire(policy="skip", grace="100ms")
    )
    await plan_ahead(rig)
    rig = await crash(rig, 60)
    await work(rig)
    again = new_execution(
        job, at(1), id=execution_id(job.id, at(1)), kind=Kind.FIRE, overlap=Overlap.QUEUE_ALL
    )
    again.backfill, again.run_at = True, rig.clock.now()
    await rig.memory.add_executions([again], rig.clock.now(), 0)
    rig = await crash(rig, 60)  # it waits for longer than the grace
    await work(rig)
    assert (await ran(rig), await skipped(rig)) == ([at(1)], [])


async def test_what_started_meanwhile_is_left_alone():
    rig = Rig()
    await rig.add(trigger=Every("1s"), misfire=Misfire(policy="latest", grace="0s"))
    await plan_ahead(rig)
    now = at(2.5)
    rig.clock.jump(2.5)
    await rig.memory.beat(a_worker("other", abilities=("call:quick",)), now)
    [claim] = await rig.memory.claim(a_claim("other", now))
    [changed] = await rig.memory.change_jobs("default", ["job"], recall([at(1), at(2)]), now)
    assert changed.withdrawn == 1
    await work(rig)
    assert (claim.fire_time, await rig.state(claim.id)) == (at(1), State.RUNNING)
