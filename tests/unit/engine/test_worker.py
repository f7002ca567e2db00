import asyncio
import contextlib

import pytest

from tests.unit.engine.rig import Rig
from tickwell.domain.execution import BY_NEWER_FIRE, OutcomeKind, State
from tickwell.domain.gate import Overlap
from tickwell.domain.outcome import Outcome
from tickwell.domain.trigger import Every
from tickwell.engine.claiming.lane import AHEAD
from tickwell.errors import StoreUnavailable
from tickwell.testing.executors import FakeExecutor, succeeds


async def test_it_starts_what_is_due(rig):
    id = await rig.request(await rig.add())
    await rig.beat()
    await rig.worker.step()
    await rig.settle()
    assert [call.id for call in rig.executor.calls] == [id]


async def test_it_claims_no_more_than_it_has_room_for():
    rig = Rig(capacity=3, lead=0)
    job = await rig.add()
    rig.executor.hold("quick")
    for _ in range(10):
        await rig.request(job)
    await rig.beat()
    assert await rig.worker.step() == 0.0  # filled: there may be more
    await rig.worker.step()
    assert await rig.running() == 3


async def test_it_claims_ahead_of_the_instant_and_never_starts_early():
    rig = Rig(lead=0.5)
    await rig.request(await rig.add(), in_seconds=0.4)
    await rig.beat()
    await rig.worker.step()
    assert await rig.running() == 1
    await rig.clock.advance(0.399)
    assert rig.executor.calls == []
    await rig.clock.advance(0.001)
    assert len(rig.executor.calls) == 1


async def test_what_is_held_is_prepared_before_its_instant(monkeypatch):
    rig = Rig(lead=0.5)
    prepared: list = []
    monkeypatch.setattr(rig.executor, "prepare", prepared.append)
    job = await rig.add()
    await rig.request(job, in_seconds=0.4)
    await rig.request(job)
    await rig.beat()
    await rig.worker.step()
    await rig.settle()
    assert ([job.name for job in prepared], len(rig.executor.calls)) == ([job.name], 1)


async def test_held_claims_take_no_slot():
    rig = Rig(capacity=1, lead=0.5)
    job = await rig.add()
    held = await rig.request(job, in_seconds=0.4)
    await rig.beat()
    await rig.worker.step()
    due = await rig.request(job)
    await rig.worker.step()
    await rig.settle()
    assert [call.id for call in rig.executor.calls] == [due]
    await rig.clock.advance(0.4)
    assert [call.id for call in rig.executor.calls] == [due, held]


async def test_a_clock_set_back_holds_and_a_clock_set_right_lets_go_within_a_second():
    rig = Rig(lead=0.5)
    await rig.request(await rig.add(), in_seconds=0.4)
    await rig.beat()
    await rig.worker.step()
    rig.clock.jump(-7200)
    await rig.clock.advance(10)
    assert rig.executor.calls == []
    rig.clock.jump(7200)
    await rig.clock.advance(1.0)
    assert len(rig.executor.calls) == 1


async def test_a_claim_whose_reply_was_lost_is_repeated_under_the_same_id(rig):
    id = await rig.request(await rig.add())
    await rig.beat()
    rig.store.after["claim"] = 1
    with pytest.raises(StoreUnavailable):
        await rig.worker.step()
    assert rig.executor.calls == []
    await rig.worker.step()
    await rig.settle()
    first, second = (request for (request,) in rig.store.named("claim")[:2])
    assert (first.claim_id, second.repeated) == (second.claim_id, True)
    assert [(call.id, call.attempt) for call in rig.executor.calls] == [(id, 1)]


async def test_what_two_beats_find_unknown_is_claimed_by_its_claim_id_and_run(rig):
    id = await rig.request(await rig.add())
    await rig.beat()
    rig.store.after["claim"] = 1
    with pytest.raises(StoreUnavailable):
        await rig.worker.step()
    rig.worker._unanswered.clear()  # nobody asks for it again
    await rig.beat()
    await rig.worker.step()
    assert rig.executor.calls == []
    await rig.beat()
    await rig.worker.step()
    await rig.settle()
    assert [(call.id, call.attempt) for call in rig.executor.calls] == [(id, 1)]


async def test_a_claim_found_by_beats_is_not_taken_again_when_it_is_repeated(rig):
    await rig.request(await rig.add())
    rig.executor.hold("quick")
    await rig.beat()
    rig.store.after["claim"] = 1
    with pytest.raises(StoreUnavailable):
        await rig.worker.step()
    await rig.beat()
    await rig.beat()
    await rig.worker.step()
    await rig.worker.step()
    await rig.settle()
    assert len(rig.executor.calls) == 1


async def test_a_cancel_request_stops_the_attempt(rig):
    id = await rig.request(await rig.add())
    rig.executor.hold("quick")
    await rig.beat()
    await rig.worker.step()
    await rig.settle()
    await rig.memory.request_cancel("default", [id], rig.clock.now())
    await rig.beat()
    await rig.settle()
    await rig.reporter.step()
    one = await rig.one(id)
    assert (one.state, one.reason, one.error) == (State.CANCELLED, *["cancelled on request"] * 2)


async def fire_and_start(rig):
    """The next fire comes; the worker hears of it, and starts what it may."""
    await rig.clock.advance(1)
    await rig.engine._loops["planner"].service.step()
    await rig.beat()
    await rig.settle()
    await rig.reporter.step()
    await rig.worker.step()
    await rig.settle()


async def test_an_attempt_that_a_newer_fire_cancelled_says_so(rig):
    await rig.add(trigger=Every("1s"), overlap=Overlap.CANCEL_RUNNING)
    rig.executor.hold("quick")
    await rig.beat()
    for _ in range(2):
        await fire_and_start(rig)
    first, second = [await rig.one(call.id) for call in rig.executor.calls]
    assert (first.state, second.state) == (State.CANCELLED, State.RUNNING)
    assert (first.reason, first.error) == (BY_NEWER_FIRE, BY_NEWER_FIRE)
    assert [one.error for one in first.attempts] == [BY_NEWER_FIRE]


async def test_a_newer_fire_waits_for_a_handler_that_takes_its_time_to_stop(rig):
    let_go = asyncio.Event()

    async def stubborn(_claim):
        while not let_go.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await let_go.wait()
        return succeeds()

    await rig.add(trigger=Every("1s"), overlap=Overlap.CANCEL_RUNNING)
    rig.executor.script("quick", stubborn)
    await rig.beat()
    for _ in range(3):
        await fire_and_start(rig)
    assert len(rig.executor.calls) == 1
    let_go.set()
    await fire_and_start(rig)
    assert len(rig.executor.calls) > 1


async def test_a_cancel_request_for_a_task_that_has_not_begun_frees_its_slot(rig):
    id = await rig.request(await rig.add())
    await rig.beat()
    (lane,) = rig.worker.lanes
    claims = await rig.worker._claim(lane, rig.worker.lanes[lane], 1)
    rig.runner.take(claims, lane)
    rig.runner.cancel(id, 1)
    await rig.settle()
    await rig.reporter.step()
    assert await rig.state(id) is State.CANCELLED
    assert rig.executor.calls == []
    assert lane.busy == 0


async def test_time_without_capacity_is_not_taken_for_the_duration_of_attempts(rig):
    id = await rig.request(await rig.add())
    await rig.beat()
    (lane,) = rig.worker.lanes
    claims = await rig.worker._claim(lane, rig.worker.lanes[lane], 1)
    lane.capacity, before = 0, lane.mean
    rig.runner.take(claims, lane)
    await rig.clock.advance(60)
    rig.runner.give_back_stuck(rig.worker.lanes)
    await rig.reporter.step()
    assert await rig.state(id) is State.QUEUED
    assert lane.mean == before


async def test_a_stop_and_a_free_slot_at_the_same_moment_go_together():
    rig = Rig(capacity=1, lead=0.5)
    job = await rig.add()
    rig.executor.hold("quick")
    await rig.beat()
    await rig.request(job)
    await rig.worker.step()
    held = await rig.request(job, in_seconds=0.3)
    await rig.worker.step()
    await rig.clock.advance(0.3)  # its instant comes, and no slot is free
    rig.runner.cancel(held, 1)
    rig.executor.release("quick")
    await rig.settle()
    await rig.reporter.step()
    assert await rig.state(held) is State.CANCELLED
    assert [lane.busy for lane in rig.worker.lanes] == [0]


async def test_claims_that_no_slot_takes_within_the_lead_go_back():
    rig = Rig(capacity=1, lead=0.5)
    job = await rig.add()
    rig.executor.hold("quick")
    await rig.beat()
    ids = [await rig.request(job) for _ in range(3)]
    await rig.worker.step()
    await rig.clock.advance(0.6)
    rig.runner.give_back_stuck(rig.worker.lanes)
    await rig.reporter.step()
    states = [await rig.state(id) for id in ids]
    assert sorted(states) == [State.QUEUED, State.QUEUED, State.RUNNING]


async def test_outcomes_that_wait_for_a_slow_store_hold_claims_back():
    rig = Rig(batch=1)
    job = await rig.add()
    await rig.beat()
    for _ in range(AHEAD + 3):
        await rig.request(job)
    for _ in range(AHEAD + 3):
        await rig.worker.step()
        await rig.settle()
    assert rig.reporter.backlog == AHEAD + 1
    assert len(rig.executor.calls) == AHEAD + 1


async def test_an_executor_that_raises_is_a_failed_attempt():
    executor = FakeExecutor("quick")
    executor.script("quick", ValueError("no"))
    rig = Rig(executor=executor)
    id = await rig.request(await rig.add())
    await rig.beat()
    await rig.worker.step()
    await rig.settle()
    await rig.reporter.step()
    one = await rig.one(id)
    assert (one.attempts[0].outcome, one.error) == (OutcomeKind.FAILED, "ValueError: no")


async def test_two_lanes_do_not_take_each_others_slots():
    from tickwell.ports.executor import Sort

    class TwoSorts(FakeExecutor):
        def abilities(self):
            return {Sort.TASK: frozenset({"call:quick"}), Sort.THREAD: frozenset({"call:other"})}

    rig = Rig(executor=TwoSorts("quick", "other"), capacity=1, threads=2, lead=0)
    one, other = await rig.add("one"), await rig.add("other", handler="other")
    rig.executor.hold("quick")
    rig.executor.hold("other")
    for _ in range(4):
        await rig.request(one)
        await rig.request(other)
    await rig.beat()
    for _ in range(3):
        await rig.worker.step()
    await rig.settle()
    handlers = sorted(call.handler for call in rig.executor.calls)
    assert handlers == ["other", "other", "quick"]


async def test_a_released_attempt_is_not_charged_and_keeps_its_number(rig):
    id = await rig.request(await rig.add())
    rig.executor.hold("quick")
    await rig.beat()
    await rig.worker.step()
    attempt = rig.runner.in_hand[id]
    rig.runner.finish_early(attempt, Outcome(kind=OutcomeKind.RELEASED))
    await rig.reporter.step()
    one = await rig.one(id)
    assert (one.attempt, one.charged, one.returned) == (1, 0, 0)
