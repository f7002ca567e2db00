"""What processes left behind in ways that no single call does."""

from datetime import timedelta

import pytest

from tests.stores.mongo.cutting import Knife
from tickwell.domain.execution import State
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.trigger import OnDemand
from tickwell.ports.records import Record
from tickwell.stores.mongo.codec import ADDING, SUCCEEDED
from tickwell.testing.contract.builders import T0, a_job, a_request, minute
from tickwell.testing.contract.scene import Scene


async def test_jobs_of_a_batch_that_was_ended_meanwhile_are_taken_away(scene, other, owner):
    job = await scene.job("taken")
    owner["jobs"].update_one(
        {"_id": job.id},
        {
            "$set": {"state": ADDING, "batch": "gone", "hidden": {"state": 0}},
            "$unset": {"next": ""},
        },
    )
    assert await other.get_jobs("default", ["taken"]) == []
    await other.orphans(T0, 1)
    assert owner["jobs"].count_documents({}) == 0
    await scene.add(a_job("taken"))


async def test_a_batch_that_is_done_is_shown_by_whoever_finds_it(scene, other, owner):
    job = await scene.job("seen")
    owner["jobs"].update_one(
        {"_id": job.id},
        {
            "$set": {"state": ADDING, "batch": "b", "hidden": {"state": 0, "next": T0 + 60_000}},
            "$unset": {"next": ""},
        },
    )
    owner["batches"].insert_one({"_id": "b", "kind": "jobs", "state": "done"})
    await other.orphans(T0, 1)
    [entry] = await other.get_jobs("default", ["seen"])
    assert entry.cursor.next_fire_time == T0 + 60_000
    assert owner["batches"].count_documents({}) == 0


async def test_frozen_executions_are_thawed_and_their_operation_cannot_happen(scene, other, owner):
    job = await scene.job(trigger=OnDemand())
    [id] = await scene.run(a_request(job, T0))
    owner["executions"].update_one({"_id": id}, {"$set": {"frozen": "op"}, "$inc": {"rev": 1}})
    rev = owner["jobs"].find_one({"_id": job.id})["rev"]
    assert await scene.claim(T0) == []
    await other.orphans(T0, 1)
    assert owner["jobs"].find_one({"_id": job.id})["rev"] > rev
    [claim] = await Scene(other).claim(T0, "w2")
    assert claim.id == id


async def test_what_is_unfinished_is_given_time(scene, store, owner):
    job = await scene.job(trigger=OnDemand())
    [id] = await scene.run(a_request(job, T0))
    owner["executions"].update_one({"_id": id}, {"$set": {"frozen": "op"}})
    store.sweeper.patience = 600.0
    for _ in range(3):
        await store.orphans(T0, 1)
    assert owner["executions"].find_one({"_id": id})["frozen"] == "op"
    assert (await scene.execution(id)).state is State.QUEUED


async def test_the_server_itself_forgets_records_by_its_own_clock(store, owner):
    """Whatever time callers are in: what expires in a minute is kept for a day and a minute."""
    record = Record(kind="note", project="p", key="k", document=1, expires_at=T0 + 60_000)
    before = owner.command("hello")["localTime"]
    assert await store.put_record(record, T0)
    after = owner.command("hello")["localTime"]
    [doc] = owner["records"].find()
    assert before <= doc["forget"] - timedelta(minutes=1) <= after
    forget = owner["records"].index_information()["forget"]
    assert forget["expireAfterSeconds"] == 86_400


def ends_unnoted(owner, id):
    """Its worker died between the end and leaving the gate."""
    told = {"state": SUCCEEDED, "ended_at": T0}
    owner["executions"].update_one({"_id": id}, {"$set": told, "$inc": {"rev": 1}})


def ends_without_a_permit(owner, id):
    ends_unnoted(owner, id)
    owner["executions"].update_one({"_id": id}, {"$unset": {"holds_job": ""}, "$inc": {"rev": 1}})


def is_gone(owner, id):
    owner["executions"].delete_one({"_id": id})


GONE = [ends_unnoted, ends_without_a_permit, is_gone]


@pytest.mark.parametrize("goes", GONE)
async def test_no_fire_is_skipped_for_a_holder_that_has_ended(scene, owner, goes):
    job = await scene.job(overlap=Overlap.SKIP)
    await scene.fire(minute(1))
    [first] = await scene.claim(minute(1))
    goes(owner, first.id)
    await scene.fire(minute(2))
    [second] = [one for one in await scene.executions(job) if one.id != first.id]
    assert second.state is State.QUEUED
    assert owner["jobs"].find_one({"_id": job.id})["holder"] == second.id


@pytest.mark.parametrize("goes", GONE)
async def test_a_permit_without_a_live_holder_is_passed_on_in_one_sweep(scene, store, owner, goes):
    store.sweeper.patience = 600.0
    job = await scene.job(trigger=OnDemand())
    requests = [a_request(job, T0 + n, overlap=Overlap.QUEUE_ALL) for n in range(3)]
    first, second, third = await scene.run(*requests, now=T0 + 3)
    goes(owner, first)
    await store.orphans(T0 + 3, 1)
    assert (await scene.execution(second)).state is State.QUEUED
    assert (await scene.execution(third)).state is State.BLOCKED
    assert owner["jobs"].find_one({"_id": job.id})["waiting"] == 1


async def test_a_line_that_its_job_does_not_know_of_goes_on_in_one_sweep(scene, store, owner):
    store.sweeper.patience = 600.0
    job = await scene.job(trigger=OnDemand())
    requests = [a_request(job, T0 + n, overlap=Overlap.QUEUE_ALL) for n in range(3)]
    first, second, _ = await scene.run(*requests, now=T0 + 3)
    owner["executions"].delete_one({"_id": first})
    owner["jobs"].update_one({"_id": job.id}, {"$unset": {"holder": "", "waiting": ""}})
    await store.orphans(T0 + 3, 1)
    assert (await scene.execution(second)).state is State.QUEUED
    doc = owner["jobs"].find_one({"_id": job.id})
    assert (doc["holder"], doc["waiting"]) == (second, 1)


async def test_a_keys_permit_of_an_execution_that_is_gone_is_passed_on_in_one_sweep(
    scene, store, owner
):
    store.sweeper.patience = 600.0
    job = await scene.job(trigger=OnDemand(), concurrency=Concurrency("k", 1))
    first, second = await scene.run(a_request(job, T0), a_request(job, T0 + 1), now=T0 + 1)
    is_gone(owner, first)
    await store.orphans(T0, 1)
    assert (await scene.execution(second)).state is State.QUEUED


async def test_a_keys_permit_that_may_be_about_to_be_used_is_given_time(scene, store, owner):
    job = await scene.job(trigger=OnDemand(), concurrency=Concurrency("k", 1))
    first, second, third = await scene.run(*(a_request(job, T0 + n) for n in range(3)), now=T0 + 3)
    rev = owner["executions"].find_one({"_id": third})["rev"]
    owner["gates"].update_one({"_id": "default/k"}, {"$set": {"holders": [f"{third}#{rev}"]}})
    is_gone(owner, first)
    store.sweeper.patience = 600.0
    await store.orphans(T0, 1)
    assert (await scene.execution(second)).state is State.BLOCKED
    store.sweeper.patience = 0.0
    await store.orphans(T0, 1)
    assert (await scene.execution(second)).state is State.QUEUED


async def test_a_keys_permit_is_passed_on_with_few_writes(scene, store):
    """Each waits for the disk, and the next for it: a full gate is not written to in vain."""
    job = await scene.job(trigger=OnDemand(), concurrency=Concurrency("k", 1))
    await scene.run(*(a_request(job, T0 + n) for n in range(3)), now=T0 + 3)
    claims = await scene.claim(T0 + 3)
    knife = Knife(1000, answered=True)
    knife.put_to(store)
    await scene.succeed(claims, T0 + 3)
    # The job, its executions, the permit given back and taken, the next one, the outbox.
    assert knife.writes == 6
    await scene.run(a_request(job, T0 + 4), now=T0 + 4)
    # The job, the execution, the outbox.
    assert knife.writes == 9
