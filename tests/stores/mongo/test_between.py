"""Something else happens between two reads of one call, or between its reads and its writes."""

import asyncio
from dataclasses import replace

import pytest

from tests.stores.mongo.cutting import Killed, Knife
from tickwell.domain.change import edit
from tickwell.domain.execution import Start, State
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.policy import MINUTE
from tickwell.domain.trigger import Every, OnDemand
from tickwell.stores.mongo.codec import QUEUED
from tickwell.testing.contract.builders import T0, a_request, minute
from tickwell.testing.contract.scene import Scene


def commits(store):
    return store.queue.transactions.commits


def once_before(part, name, happen):
    """Have this happen before the next call of a method."""
    method = getattr(part, name)

    async def instead(*args):
        setattr(part, name, method)
        await happen()
        return await method(*args)

    setattr(part, name, instead)


async def dead_with_its_gate_left(scene, owner):
    """It ended, its job's gate is left, and that is not yet noted in it."""
    job = await scene.job()
    await scene.fire(minute(1))
    [claim] = await scene.claim(minute(1))
    await scene.fail(claim, minute(1), retry=False)
    owner["executions"].update_one({"_id": claim.id}, {"$set": {"holds_job": True}})
    return job, claim.id


async def test_a_revival_is_not_lost_when_the_left_gate_is_noted(scene, store, owner):
    job, id = await dead_with_its_gate_left(scene, owner)

    async def note():
        owner["executions"].update_one(
            {"_id": id, "holds_job": True}, {"$unset": {"holds_job": ""}, "$inc": {"rev": 1}}
        )

    once_before(commits(store), "_freeze", note)
    assert await store.revive("default", [id], minute(2)) == [id]
    assert (await scene.execution(id)).state is State.QUEUED
    assert owner["jobs"].find_one({"_id": job.id})["holder"] == id
    assert owner["executions"].find_one({"_id": id})["holds_job"] is True


async def test_an_execution_that_was_edited_after_it_was_found_runs_by_the_edit(
    scene, store, other
):
    job = await scene.job()
    [id] = await scene.run(a_request(job, T0))
    find = store.queue._readable

    async def found_then_edited(*args):
        ids = await find(*args)
        await Scene(other).change(job, edit(replace(job, payload="new")), T0)
        return ids

    store.queue._readable = found_then_edited
    [claim] = await scene.claim(T0)
    assert (claim.id, claim.job.version, claim.payload) == (id, 2, "new")


async def test_a_gate_whose_holder_is_gone_is_free(scene, store, owner):
    job = await scene.job(overlap=Overlap.CANCEL_RUNNING)
    await scene.fire(minute(1))
    [first] = await scene.executions(job)
    owner["executions"].delete_one({"_id": first.id})
    await scene.fire(minute(2))
    [second] = await scene.executions(job)
    assert second.state is State.QUEUED
    assert owner["jobs"].find_one({"_id": job.id})["holder"] == second.id


async def test_a_job_that_moves_while_its_permit_is_passed_on(scene, store, other, owner):
    job = await scene.job(trigger=Every("1m"))
    await scene.fire(minute(1), horizon=MINUTE)
    [claim] = await scene.claim(minute(1))

    async def fire():
        await Scene(other).fire(minute(2), horizon=MINUTE)

    once_before(store.reports.gates, "_transfer", fire)
    await scene.succeed(claim, minute(1) + 5)
    states = [(row["fire_time"], row["state"]) for row in owner["executions"].find()]
    assert (minute(2), QUEUED) in states
    [doc] = owner["jobs"].find({"_id": job.id})
    assert doc["waiting"] == 1
    assert "outbox" not in doc


class Held:
    """A call that stands still before one of the store's methods, until it is let go."""

    def __init__(self, part, name, call):
        self._reached, self._let_go = asyncio.Event(), asyncio.Event()
        once_before(part, name, self._stand)
        self._task = asyncio.ensure_future(call)

    async def _stand(self):
        self._reached.set()
        await self._let_go.wait()

    async def reached(self):
        await self._reached.wait()

    async def answer(self):
        self._let_go.set()
        return await self._task


def after_the_flush(store, happen):
    """Have this happen when a store has moved a job on and is about to thaw."""
    part = commits(store)
    flush = part.flush

    async def instead(docs):
        flushed = await flush(docs)
        if docs:
            part.flush = flush
            await happen()
        return flushed

    part.flush = instead


async def one_left_frozen(scene, owner):
    """Two queued executions of a job; whoever froze the first is gone."""
    job = await scene.job(trigger=OnDemand())
    left, second = await scene.run(a_request(job, T0), a_request(job, T0 + 1), now=T0 + 1)
    owner["executions"].update_one({"_id": left}, {"$set": {"frozen": "gone"}, "$inc": {"rev": 1}})
    return left, second


async def cancelled_and_thawed(scene, left, second):
    assert (await scene.execution(second)).state is State.CANCELLED
    [claim] = await scene.claim(T0 + 1, "w2")
    assert claim.id == left


async def test_a_sweep_thaws_nothing_that_a_newer_operation_has_frozen(scene, store, other, owner):
    left, second = await one_left_frozen(scene, owner)
    cancelling = None

    async def freeze():
        nonlocal cancelling
        call = store.request_cancel("default", [second], T0 + 1)
        cancelling = Held(commits(store), "_move", call)
        await cancelling.reached()

    after_the_flush(other, freeze)
    await other.orphans(T0, 1)
    assert cancelling is not None
    assert await cancelling.answer() == [second]
    await cancelled_and_thawed(scene, left, second)


async def test_a_sweep_thaws_nothing_of_a_newer_operation_that_died_since(
    scene, store, other, owner
):
    left, second = await one_left_frozen(scene, owner)

    async def freeze_move_and_die():
        Knife(2, answered=True).put_to(store)
        with pytest.raises(Killed):
            await store.request_cancel("default", [second], T0 + 1)

    after_the_flush(other, freeze_move_and_die)
    for _ in range(2):
        await other.orphans(T0, 1)
    await cancelled_and_thawed(Scene(other), left, second)


def no_frozen_enters(part):
    """Fail where one is about to: its update is lost and tried again, for ever."""
    enter = part._enter

    async def instead(doc):
        assert "frozen" not in doc
        return await enter(doc)

    part._enter = instead


async def test_who_comes_to_a_keys_gate_late_moves_nothing_that_was_frozen_since(
    scene, store, other, owner
):
    job = await scene.job(trigger=OnDemand(), concurrency=Concurrency("k", 1))
    inside = await scene.job(trigger=OnDemand(), concurrency=Concurrency("k", 1))
    await scene.run(a_request(inside, T0))
    [holder] = await scene.claim(T0)
    coming = Held(commits(store).gates, "_arrive", scene.run(a_request(job, T0)))
    await coming.reached()
    [doc] = owner["executions"].find({"job": job.id})
    call = other.request_cancel("default", [doc["_id"]], T0)
    cancelling = Held(commits(other), "_move", call)
    await cancelling.reached()
    no_frozen_enters(commits(store).gates)
    await scene.succeed(holder, T0)
    await coming.answer()
    assert await cancelling.answer() == [doc["_id"]]
    assert (await scene.execution(doc["_id"])).state is State.CANCELLED
    assert owner["gates"].find_one({"_id": "default/k"})["holders"] == []


async def test_a_start_that_is_recorded_while_the_run_ends_does_not_lose_the_end(scene, store):
    """Starts are recorded in the background, up to a second later."""
    job = await scene.job(
        trigger=OnDemand(), overlap=Overlap.QUEUE_ALL, concurrency=Concurrency("k", 1)
    )
    await scene.run(a_request(job, T0), a_request(job, T0))
    [claim] = await scene.claim(minute(1))
    start = Start(claim.id, 1, minute(1))

    recorded = []

    async def record():
        recorded.extend(await store.record_starts([start]))

    once_before(commits(store), "_thaw", record)
    await scene.succeed([claim], minute(1))
    assert recorded == [claim.id]
    assert (await scene.execution(claim.id)).state is State.SUCCEEDED
