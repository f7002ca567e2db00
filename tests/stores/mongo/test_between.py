"""Something else happens between two reads of one call, or between its reads and its writes."""

from dataclasses import replace

from tickwell.domain.change import edit
from tickwell.domain.execution import State
from tickwell.domain.gate import Overlap
from tickwell.domain.policy import MINUTE
from tickwell.domain.trigger import Every
from tickwell.stores.mongo.codec import QUEUED
from tickwell.testing.contract.builders import T0, a_request, minute
from tickwell.testing.contract.scene import Scene


def once_before(store, name, happen):
    """Have this happen before the next call of a method."""
    method = getattr(store, name)

    async def instead(*args):
        setattr(store, name, method)
        await happen()
        return await method(*args)

    setattr(store, name, instead)


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

    once_before(store, "_freeze", note)
    assert await store.revive("default", [id], minute(2)) == [id]
    assert (await scene.execution(id)).state is State.QUEUED
    assert owner["jobs"].find_one({"_id": job.id})["holder"] == id
    assert owner["executions"].find_one({"_id": id})["holds_job"] is True


async def test_an_execution_that_was_edited_after_it_was_found_runs_by_the_edit(
    scene, store, other
):
    job = await scene.job()
    [id] = await scene.run(a_request(job, T0))
    find = store._readable

    async def found_then_edited(*args):
        ids = await find(*args)
        await Scene(other).change(job, edit(replace(job, payload="new")), T0)
        return ids

    store._readable = found_then_edited
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

    once_before(store, "_hand_over", fire)
    await scene.succeed(claim, minute(1) + 5)
    states = [(row["fire_time"], row["state"]) for row in owner["executions"].find()]
    assert (minute(2), QUEUED) in states
    [doc] = owner["jobs"].find({"_id": job.id})
    assert doc["waiting"] == 1
    assert "outbox" not in doc
