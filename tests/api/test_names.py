"""Names in the form of ids: refused, and without power where a store has one."""

import random
from dataclasses import replace

import pytest

from tickwell.domain.document import job_from_document
from tickwell.domain.job import Cursor, Entry
from tickwell.domain.trigger import OnDemand
from tickwell.ids import new_id

ID = "0197c0de-0000-7000-8000-000000000000"
ANY = {"If-Match": "*"}
JOB = {"trigger": {"on_demand": True}, "target": {"call": {"handler": "x"}}}


async def namesake(world, name):
    """A job with a name that is refused by now, as an earlier version took it."""
    id = new_id(world.clock.now(), random.Random(7))
    job = replace(job_from_document({"id": id, "name": name, **JOB}), trigger=OnDemand())
    await world.store.add_jobs([Entry(job, Cursor())], world.clock.now())
    return id


@pytest.mark.parametrize("name", [ID, f"callback-{ID}"])
async def test_they_are_refused(world, http, name):
    added = await world.add("report")
    for answer in (
        await http.post("/jobs", json={"name": name, **JOB}),
        await http.patch("/jobs/report", json={"name": name}, headers=ANY),
        await http.put(f"/jobs/{added['id']}", json={"name": name, **JOB}, headers=ANY),
    ):
        assert answer.status_code == 422, answer.text
        (error,) = answer.json()["errors"]
        assert error["pointer"] == "/name"
        assert "in the form of" in error["detail"]
    many = await http.post(
        "/jobs/batch", json={"jobs": [{"name": "a", **JOB}, {"name": name, **JOB}]}
    )
    assert [each["pointer"] for each in many.json()["errors"]] == ["/jobs/1/name"]
    assert len((await http.get("/jobs")).json()["items"]) == 1


async def test_who_has_one_stays_readable_and_can_be_renamed(world, http):
    id = await namesake(world, ID)
    assert (await http.get(f"/jobs/{ID}")).json()["id"] == id
    edited = await http.patch(f"/jobs/{ID}", json={"priority": 7}, headers=ANY)
    assert edited.json()["job"]["name"] == ID
    renamed = await http.patch(f"/jobs/{id}", json={"name": "report"}, headers=ANY)
    assert renamed.json()["job"]["name"] == "report"


async def test_whoever_is_named_like_another_takes_no_place_of_it(world, http):
    await world.die("report")
    job = (await http.get("/jobs/report")).json()
    other = await namesake(world, job["id"])
    assert (await http.post("/jobs/report/pause")).json()["job"]["id"] == job["id"]
    assert (await http.post("/jobs/report/resume")).json()["job"]["id"] == job["id"]
    patched = await http.patch("/jobs/report", json={"priority": 7}, headers=ANY)
    assert (patched.status_code, patched.json()["job"]["id"]) == (200, job["id"])
    (dead,) = (await http.get("/executions", params={"state": "dead"})).json()["items"]
    assert dead["job_name"] == "report"
    revived = await http.post(f"/executions/{dead['id']}/revive", json={"payload": {"a": 1}})
    assert revived.json()["job_id"] == job["id"]
    assert (await http.delete("/jobs/report")).status_code == 200
    left = (await http.get("/jobs")).json()["items"]
    assert [each["id"] for each in left] == [other]


async def test_all_that_are_to_be_deleted_are(world, http):
    job = await world.add("report")
    await namesake(world, job["id"])
    done = (await http.post("/bulk/delete", json={"filter": {}})).json()
    assert done["changed"] == 2
    assert (await http.get("/jobs")).json()["items"] == []
