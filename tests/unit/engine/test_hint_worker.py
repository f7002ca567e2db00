from dataclasses import dataclass
from typing import Any

import pytest

from tests.unit.engine.rig import Rig
from tickwell.domain.execution import State
from tickwell.domain.queue import PAUSE_KIND, PAUSE_PROJECT
from tickwell.domain.worker import Worker as Known
from tickwell.engine.claiming.worker import FULL
from tickwell.engine.hints.hint_worker import LEAD, LONGEST, HintInbox
from tickwell.errors import StoreUnavailable
from tickwell.ports.records import ClaimRequest, Record


@dataclass
class Caller:
    """Notes its release, and each call as "call"."""

    id: str
    done: list[str]

    def call(self, function):
        self.done.append("call")
        function()

    def release(self):
        self.done.append(self.id)


@pytest.fixture
async def hinted():
    """An engine that is told what to run, and the ids whose callers were let go."""
    rig: Any = Rig(inbox=HintInbox("celery@here", 2))
    rig.done = []
    rig.job = await rig.add()
    rig.engine.worker.id = rig.worker.new_worker_id()
    await rig.beat()
    return rig


async def step(rig, *ids):
    """As its loop does: again at once as long as it asks for that."""
    for id in ids:
        rig.worker.inbox.add(id, Caller(id, rig.done))
    while await rig.worker.step() == 0:
        pass
    await rig.settle()


async def work(rig, *ids):
    """Until nothing more happens: an attempt that ends wakes the worker."""
    await step(rig, *ids)
    for _ in range(5):
        await step(rig)


def ran(rig):
    return [call.id for call in rig.executor.calls]


async def claimed_elsewhere(rig):
    """A worker of another process takes all there is."""
    now = rig.clock.now()
    other = Known(
        id="other", host="there", pid=1, queues=(), abilities=(), capacity=1, started_at=now
    )
    await rig.memory.beat(other, now)
    request = ClaimRequest(
        worker="other",
        claim_id="other",
        now=now,
        lead=0,
        limit=100,
        queues=("default",),
        abilities=frozenset({"call:quick"}),
    )
    return await rig.memory.claim(request)


async def test_without_a_hint_nothing_is_claimed(hinted):
    await hinted.request(hinted.job)
    await work(hinted)
    assert hinted.store.named("claim") == []


async def test_a_hint_wakes_a_slot_that_goes_on_with_what_else_is_due(hinted):
    first, hinted_for, third = sorted([await hinted.request(hinted.job) for _ in range(3)])
    await work(hinted, hinted_for)
    assert ran(hinted) == [hinted_for, first, third]
    assert hinted.done == [hinted_for]  # once, when nothing was left


async def test_a_slot_whose_execution_was_taken_goes_on_with_another(hinted):
    taken = await hinted.request(hinted.job)
    await claimed_elsewhere(hinted)
    other = await hinted.request(hinted.job)
    await work(hinted, taken)
    assert ran(hinted) == [other]
    assert hinted.done == [taken]


async def test_never_more_run_than_callers_wait(hinted):
    hinted.executor.hold("quick")
    ids = [await hinted.request(hinted.job) for _ in range(20)]
    await work(hinted, *ids[:3])
    assert len(hinted.executor.calls) == 3
    hinted.worker.inbox.add(ids[0], Caller("fourth", hinted.done))
    await work(hinted)
    assert len(hinted.executor.calls) == 4
    hinted.executor.release("quick")
    await work(hinted)
    assert sorted(ran(hinted)) == sorted(ids)
    assert sorted(hinted.done) == sorted([*ids[:3], "fourth"])


async def test_one_slot_runs_one_at_a_time(hinted):
    """Of those that it has claimed ahead, the next starts when the one before has ended."""
    hinted.executor.hold("quick")
    ids = [await hinted.request(hinted.job) for _ in range(10)]
    await work(hinted, ids[0])
    assert ran(hinted) == ids[:1]
    assert hinted.done == []


async def test_nothing_is_claimed_ahead_of_slots_where_attempts_are_long(hinted):
    hinted.worker.lane.mean = 60_000
    hinted.executor.hold("quick")
    ids = [await hinted.request(hinted.job) for _ in range(10)]
    await work(hinted, ids[0])
    assert len(hinted.runner.in_hand) == 1


async def test_a_caller_that_has_worked_for_long_is_released_though_more_is_due(hinted):
    hinted.worker.lane.mean = 60_000
    hinted.executor.hold("quick")
    ids = [await hinted.request(hinted.job) for _ in range(3)]
    await work(hinted, ids[0])
    await hinted.clock.advance(LONGEST)
    hinted.executor.release("quick")
    await work(hinted)
    assert hinted.done == ids[:1]
    assert ran(hinted) == ids[:1]


async def test_a_caller_whose_time_is_over_runs_what_is_claimed_already(hinted):
    hinted.executor.hold("quick")
    ids = [await hinted.request(hinted.job) for _ in range(5)]
    await work(hinted, ids[0])
    assert len(hinted.runner.in_hand) == 5
    late = await hinted.request(hinted.job)
    await hinted.clock.advance(LONGEST)
    hinted.executor.release("quick")
    await work(hinted)
    assert sorted(ran(hinted)) == sorted(ids)
    assert hinted.done == ids[:1]
    assert await hinted.state(late) is State.QUEUED


async def test_callers_that_came_later_go_on_when_others_are_released(hinted):
    hinted.worker.lane.mean = 60_000
    hinted.executor.hold("quick")
    ids = [await hinted.request(hinted.job) for _ in range(5)]
    await work(hinted, ids[0])
    await hinted.clock.advance(LONGEST / 2)
    await work(hinted, ids[1])
    await hinted.clock.advance(LONGEST / 2)
    hinted.executor.release("quick")
    await work(hinted)
    assert hinted.done == ids[:2]
    assert sorted(ran(hinted)) == sorted(ids)


async def test_at_shutdown_only_what_has_started_goes_on(hinted):
    hinted.executor.hold("quick")
    ids = [await hinted.request(hinted.job) for _ in range(5)]
    await work(hinted, *ids[:2])
    hinted.worker.inbox.close()
    await step(hinted)
    assert len(hinted.runner.in_hand) == 2
    assert hinted.done == []
    hinted.executor.release("quick")
    await work(hinted)
    assert len(hinted.executor.calls) == 2
    assert sorted(hinted.done) == sorted(ids[:2])


async def test_what_is_held_at_shutdown_does_not_start_while_the_store_is_away(hinted):
    id = await hinted.request(hinted.job, in_seconds=0.1)
    await work(hinted, id)
    assert (len(hinted.runner.in_hand), hinted.done) == (1, [])
    hinted.store.away = True
    hinted.worker.inbox.close()
    assert hinted.done == [id]
    await hinted.clock.advance(0.1)
    await hinted.settle()
    assert hinted.executor.calls == []


async def test_a_caller_waits_for_an_instant_that_is_near_and_for_no_other(hinted):
    near = await hinted.request(hinted.job, in_seconds=LEAD)
    await hinted.request(hinted.job, in_seconds=LEAD + 0.1)
    await work(hinted, near, near)
    assert (hinted.executor.calls, hinted.done) == ([], [near])
    await hinted.clock.advance(LEAD)
    await hinted.settle()
    assert ran(hinted) == [near]


async def test_sync_handlers_run_in_the_threads_of_callers(hinted):
    inbox, attempts = hinted.worker.inbox, [await hinted.request(hinted.job) for _ in range(2)]
    hinted.executor.hold("quick")
    await work(hinted, *attempts)
    threads = [inbox.thread_for(attempt.claim) for attempt in hinted.runner.started()]
    assert len(set(threads)) == 2
    assert inbox.thread_for(hinted.runner.started()[0].claim) is None
    hinted.executor.release("quick")
    await work(hinted)
    assert sorted(hinted.done) == sorted(attempts)


async def test_the_end_of_the_engine_releases_every_caller(hinted):
    hinted.executor.hold("quick")
    id = await hinted.request(hinted.job)
    await work(hinted, id)
    hinted.worker.inbox.end()
    assert hinted.done == [id]
    hinted.executor.release("quick")


async def test_a_paused_queue_keeps_no_caller(hinted):
    record = Record(kind=PAUSE_KIND, project=PAUSE_PROJECT, key="default", document={})
    await hinted.memory.put_record(record, hinted.clock.now())
    id = await hinted.request(hinted.job)
    await work(hinted, id)
    assert (hinted.executor.calls, hinted.done) == ([], [id])


@pytest.mark.parametrize("callers", [0, 1, 2])
async def test_it_is_full_only_when_all_of_its_capacity_is_taken(hinted, callers):
    hinted.executor.hold("quick")
    await work(hinted, *[await hinted.request(hinted.job) for _ in range(callers)])
    await hinted.clock.advance(FULL + 1)
    assert len(hinted.worker.full()) == (callers == hinted.worker.capacity)
    hinted.executor.release("quick")


async def test_its_worker_has_the_name_of_the_other_queues_worker(hinted):
    await step(hinted, await hinted.request(hinted.job))
    [known] = await hinted.memory.list_workers()
    assert known.worker.id.startswith("celery@here/")
    assert known.worker.capacity == 2


async def test_a_caller_waits_for_the_end_of_the_attempt(hinted):
    hinted.executor.hold("quick")
    id = await hinted.request(hinted.job)
    await step(hinted, id)
    assert await hinted.state(id) is State.RUNNING
    assert hinted.done == []
    hinted.executor.release("quick")
    await work(hinted)
    assert hinted.done == [id]


async def test_what_another_worker_holds_is_left_alone(hinted):
    id = await hinted.request(hinted.job)
    assert len(await claimed_elsewhere(hinted)) == 1
    await step(hinted, id, "unknown")
    assert hinted.executor.calls == []
    assert hinted.done == [id, "unknown"]


async def test_a_second_hint_for_what_runs_here_needs_no_answer_of_the_store(hinted):
    hinted.executor.hold("quick")
    id = await hinted.request(hinted.job)
    await step(hinted, id)
    await step(hinted, id)
    assert [request.ids for (request,) in hinted.store.named("claim")].count((id,)) == 1
    assert hinted.done == [id]


async def test_hints_of_one_moment_are_one_claim(hinted):
    ids = [await hinted.request(hinted.job) for _ in range(20)]
    await work(hinted, *ids, *ids)
    claims = [request.ids for (request,) in hinted.store.named("claim")]
    assert [len(named) for named in claims if named] == [20]
    assert sorted(hinted.done) == sorted(ids * 2)
    assert len(hinted.executor.calls) == 20


async def test_a_caller_waits_while_the_store_is_away(hinted):
    id = await hinted.request(hinted.job)
    hinted.store.before["claim"] = 1
    with pytest.raises(StoreUnavailable):
        await step(hinted, id)
    assert hinted.done == []
    await work(hinted)
    assert hinted.done == [id]
    assert len(hinted.executor.calls) == 1


async def test_a_caller_that_has_waited_long_for_the_store_gets_its_claim(hinted):
    ids = [await hinted.request(hinted.job) for _ in range(3)]
    hinted.store.before["claim"] = 1
    with pytest.raises(StoreUnavailable):
        await step(hinted, ids[1])
    await hinted.clock.advance(LONGEST)
    await work(hinted)
    assert ran(hinted) == [ids[1]]
    assert hinted.done == [ids[1]]


async def test_a_claim_whose_reply_was_lost_is_found_again(hinted):
    id = await hinted.request(hinted.job)
    hinted.store.after["claim"] = 1
    with pytest.raises(StoreUnavailable):
        await step(hinted, id)
    await work(hinted)
    assert hinted.done == [id]
    assert [(call.id, call.attempt) for call in hinted.executor.calls] == [(id, 1)]


async def test_a_worker_that_was_declared_lost_lets_its_callers_go(hinted):
    hinted.executor.hold("quick")
    id = await hinted.request(hinted.job)
    await step(hinted, id)
    before = hinted.worker.id
    await hinted.memory.declare_lost(before, 1, hinted.clock.now())
    await hinted.beat()
    await hinted.beat()  # under its new name
    await hinted.settle()
    await work(hinted)
    assert hinted.done == [id]
    assert hinted.worker.id != before
    assert hinted.worker.id.startswith("celery@here/")


async def test_a_caller_waits_for_a_claim_that_is_found_again_by_a_beat(hinted):
    """The reply was lost; a beat tells of the claim, and it runs without its caller."""
    hinted.executor.hold("quick")
    id = await hinted.request(hinted.job)
    hinted.store.after["claim"] = 1
    with pytest.raises(StoreUnavailable):
        await step(hinted, id)
    for _ in range(2):  # unknown twice in a row: its reply is not on its way
        await hinted.beat()
    await step(hinted)
    assert await hinted.state(id) is State.RUNNING
    assert hinted.done == []
    hinted.executor.release("quick")
    await work(hinted)
    assert hinted.done == [id]
    assert len(hinted.executor.calls) == 1


async def test_a_claim_whose_reply_was_lost_before_a_shutdown_is_given_back(hinted):
    id = await hinted.request(hinted.job)
    hinted.store.after["claim"] = 1
    with pytest.raises(StoreUnavailable):
        await step(hinted, id)
    hinted.worker.inbox.close()
    assert await hinted.state(id) is State.RUNNING
    await hinted.worker.step()
    await hinted.reporter.step()
    assert await hinted.state(id) is State.QUEUED
    assert hinted.executor.calls == []
    asked = hinted.store.after["claim"]
    await hinted.worker.step()
    assert hinted.store.after["claim"] == asked  # no more: it is answered


async def test_callers_without_a_claim_are_released_at_shutdown(hinted):
    hinted.worker.draining = True
    await step(hinted, await hinted.request(hinted.job))
    assert hinted.done == []
    hinted.worker.inbox.close()
    assert len(hinted.done) == 1


async def test_callers_are_released_at_shutdown_while_the_store_is_away(hinted):
    id = await hinted.request(hinted.job)
    hinted.store.before["claim"] = 1
    with pytest.raises(StoreUnavailable):
        await step(hinted, id)
    hinted.worker.inbox.close()
    assert hinted.done == [id]
    await step(hinted, id)
    assert hinted.done == [id, id]  # a message that comes later is not claimed
    assert await hinted.state(id) is State.QUEUED
