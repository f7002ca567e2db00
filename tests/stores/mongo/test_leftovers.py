"""What processes left behind in ways that no single call does."""

from datetime import timedelta

from tickwell.domain.execution import State
from tickwell.domain.trigger import OnDemand
from tickwell.ports.records import Record
from tickwell.stores.mongo.codec import ADDING
from tickwell.testing.contract.builders import T0, a_job, a_request
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
    store.patience = 600.0
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
