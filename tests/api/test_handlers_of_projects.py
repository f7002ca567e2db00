"""Handlers belong to projects: who may name one in a job, and who is shown it."""

import dataclasses

import pytest

from tests.api.conftest import WORKER
from tickwell.domain.ability import call_ability, shared_ability
from tickwell.services.access.permission import Permission

ABILITIES = (
    "http",
    call_ability("default", "mine"),
    call_ability("shop", "theirs"),
    shared_ability("post"),
)
ANY = {"If-Match": "*"}
EDITOR = Permission.READ, Permission.EDIT


@pytest.fixture
async def crew(world):
    worker = dataclasses.replace(WORKER, abilities=ABILITIES)
    await world.store.beat(worker, world.clock.now())
    world.as_actor(*EDITOR)


def a_job(name, handler):
    target = {"call": {"handler": handler}}
    return {"name": name, "trigger": {"on_demand": True}, "target": target}


async def test_a_handler_of_another_project_is_refused_like_one_that_nobody_has(http, crew):
    said = {}
    for handler in ("theirs", "nobodys"):
        answer = await http.post("/jobs", json=a_job("job", handler))
        assert answer.status_code == 422
        problem = answer.json()
        told = problem["title"], problem["detail"], problem["errors"]
        said[handler] = str(told).replace(handler, "…")
    assert said["theirs"] == said["nobodys"]
    many = {"jobs": [a_job("one", "mine"), a_job("two", "theirs")]}
    assert (await http.post("/jobs/batch", json=many)).status_code == 422
    assert (await http.get("/jobs")).json()["items"] == []


async def test_own_and_shared_handlers_are_saved_and_an_edit_is_checked_too(http, crew):
    for name, handler in (("own", "mine"), ("shared", "post")):
        assert (await http.post("/jobs", json=a_job(name, handler))).status_code == 201
    target = {"target": {"call": {"handler": "theirs"}}}
    assert (await http.patch("/jobs/own", json=target, headers=ANY)).status_code == 422
    assert (
        await http.patch("/jobs/own", json={"description": "still"}, headers=ANY)
    ).status_code == 200


async def test_a_job_whose_worker_is_gone_can_still_be_edited(world, http, crew):
    assert (await http.post("/jobs", json=a_job("own", "mine"))).status_code == 201
    fewer = dataclasses.replace(WORKER, abilities=ABILITIES[2:])
    await world.store.beat(fewer, world.clock.now())
    assert (
        await http.patch("/jobs/own", json={"description": "still"}, headers=ANY)
    ).status_code == 200


async def test_while_no_worker_with_handlers_is_alive_any_name_is_saved(world, http, crew):
    bare = dataclasses.replace(WORKER, abilities=("http",))
    await world.store.beat(bare, world.clock.now())
    assert (await http.post("/jobs", json=a_job("early", "theirs"))).status_code == 201


async def test_only_what_the_project_may_use_is_listed(world, http, crew):
    seen = [(await http.get("/workers")).json()["items"][0], (await http.get("/workers/w")).json()]
    for worker in seen:
        assert worker["abilities"] == ["http", "call:mine", "call:*/post"]
    world.as_actor(*EDITOR, Permission.PLATFORM)
    (worker,) = (await http.get("/workers")).json()["items"]
    assert worker["abilities"] == list(ABILITIES)
