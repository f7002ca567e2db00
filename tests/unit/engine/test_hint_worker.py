from dataclasses import dataclass
from typing import Any

import pytest

from tests.unit.engine.rig import Rig
from tickwell.domain.execution import State
from tickwell.domain.worker import Worker as Known
from tickwell.engine.hint_worker import HintInbox
from tickwell.errors import StoreUnavailable
from tickwell.ports.records import ClaimRequest


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
    for id in ids:
        rig.worker.inbox.add(id, Caller(id, rig.done))
    await rig.worker.step()
    await rig.settle()


async def claimed_elsewhere(rig):
    """A worker of another process takes all there is."""
    now = rig.clock.now()
    other = Known(id="other", host="there", pid=1, queues=(), abilities=(), slots=1, started_at=now)
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


async def test_it_runs_what_it_is_told_of_and_nothing_else(hinted):
    told, other = [await hinted.request(hinted.job) for _ in range(2)]
    await step(hinted)
    assert hinted.executor.calls == []
    await step(hinted, told)
    assert [call.id for call in hinted.executor.calls] == [told]
    assert hinted.done == [told]
    assert await hinted.state(other) is State.QUEUED


async def test_its_worker_has_the_name_of_the_other_queues_worker(hinted):
    await step(hinted, await hinted.request(hinted.job))
    [known] = await hinted.memory.list_workers()
    assert known.worker.id.startswith("celery@here/")
    assert known.worker.slots == 2


async def test_a_caller_waits_for_the_end_of_the_attempt(hinted):
    hinted.executor.hold("quick")
    id = await hinted.request(hinted.job)
    await step(hinted, id)
    assert await hinted.state(id) is State.RUNNING
    assert hinted.done == []
    hinted.executor.release("quick")
    await hinted.settle()
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
    asked = len(hinted.store.named("claim"))
    await step(hinted, id)
    assert (hinted.done, len(hinted.store.named("claim"))) == ([id], asked)


async def test_hints_of_one_moment_are_one_claim(hinted):
    ids = [await hinted.request(hinted.job) for _ in range(20)]
    await step(hinted, *ids, *ids)
    assert len(hinted.store.named("claim")) == 1
    assert sorted(hinted.done) == sorted(ids * 2)
    assert len(hinted.executor.calls) == 20


async def test_a_caller_waits_while_the_store_is_away(hinted):
    id = await hinted.request(hinted.job)
    hinted.store.before["claim"] = 1
    with pytest.raises(StoreUnavailable):
        await step(hinted, id)
    assert hinted.done == []
    await step(hinted)
    assert hinted.done == [id]
    assert len(hinted.executor.calls) == 1


async def test_a_claim_whose_reply_was_lost_is_found_again(hinted):
    id = await hinted.request(hinted.job)
    hinted.store.after["claim"] = 1
    with pytest.raises(StoreUnavailable):
        await step(hinted, id)
    await step(hinted)
    assert hinted.done == [id]
    assert [(call.id, call.attempt) for call in hinted.executor.calls] == [(id, 1)]


async def test_a_worker_that_was_declared_lost_lets_its_callers_go(hinted):
    hinted.executor.hold("quick")
    id = await hinted.request(hinted.job)
    await step(hinted, id)
    before = hinted.worker.id
    await hinted.memory.declare_lost(before, 1, hinted.clock.now())
    await hinted.beat()
    await hinted.settle()
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
    await hinted.settle()
    assert hinted.done == [id]
    assert len(hinted.executor.calls) == 1


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
