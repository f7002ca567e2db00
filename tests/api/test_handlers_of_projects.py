"""Handlers belong to projects: who may name one in a job, and who is shown it."""

import dataclasses

import pytest

from tests.api.conftest import WORKER
from tickwell.domain.ability import call_ability, shared_ability
from tickwell.services.access.actor import Permission

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


def a_warning(handler):
    return [f"no live worker knows handler {handler!r}; executions wait until one does"]


async def test_a_handler_of_another_project_is_answered_like_one_that_does_not_exist(http, crew):
    for handler in ("theirs", "unknown"):
        answer = await http.post("/jobs", json=a_job(handler, handler))
        assert (answer.status_code, answer.json()["warnings"]) == (201, a_warning(handler))
        assert (await http.get(f"/jobs/{handler}")).json()["warnings"] == a_warning(handler)
    items = (await http.get("/jobs")).json()["items"]
    assert [sorted(items[0]), "warnings" in items[0]] == [sorted(items[1]), False]


async def test_a_batch_names_each_handler_that_no_live_worker_has_once(http, crew):
    named = ("one", "mine"), ("two", "theirs"), ("three", "theirs"), ("four", "post")
    answer = await http.post("/jobs/batch", json={"jobs": [a_job(*each) for each in named]})
    assert answer.status_code == 201
    assert answer.json()["warnings"] == a_warning("theirs")


async def test_own_and_shared_handlers_have_no_warning_and_an_edit_warns_too(http, crew):
    for name, handler in (("own", "mine"), ("shared", "post")):
        answer = await http.post("/jobs", json=a_job(name, handler))
        assert (answer.status_code, answer.json()["warnings"]) == (201, [])
    target = {"target": {"call": {"handler": "theirs"}}}
    answer = await http.patch("/jobs/own", json=target, headers=ANY)
    assert (answer.status_code, answer.json()["job"]["warnings"]) == (200, a_warning("theirs"))
    read = (await http.get("/jobs/own")).json()
    answer = await http.put("/jobs/own", json=read, headers=ANY)  # as it was read
    assert (answer.status_code, answer.json()["job"]["warnings"]) == (200, a_warning("theirs"))


async def test_without_a_worker_of_the_queue_the_warning_names_the_queue(http, crew):
    answer = await http.post("/jobs", json=a_job("job", "mine") | {"queue": "slow"})
    assert answer.json()["warnings"] == [
        "no live worker serves queue 'slow'; executions wait until one does"
    ]


async def test_a_key_without_read_gets_no_warning(world, http, crew):
    world.as_actor(Permission.EDIT)
    answer = await http.post("/jobs", json=a_job("job", "theirs"))
    assert (answer.status_code, "warnings" in answer.json()) == (201, False)
    answer = await http.post("/jobs/batch", json={"jobs": [a_job("other", "theirs")]})
    assert (answer.status_code, answer.json()["warnings"]) == (201, [])


async def test_where_a_worker_runs_is_null_for_who_is_no_platform_admin(world, http, crew):
    (worker,) = (await http.get("/workers")).json()["items"]
    assert (worker["host"], worker["pid"]) == (None, None)
    world.as_actor(*EDITOR, Permission.PLATFORM)
    (worker,) = (await http.get("/workers")).json()["items"]
    assert (worker["host"], worker["pid"]) == (WORKER.host, WORKER.pid)


async def test_only_what_the_project_may_use_is_listed(world, http, crew):
    seen = [(await http.get("/workers")).json()["items"][0], (await http.get("/workers/w")).json()]
    for worker in seen:
        assert worker["abilities"] == ["http", "call:mine", "call:*/post"]
    world.as_actor(*EDITOR, Permission.PLATFORM)
    (worker,) = (await http.get("/workers")).json()["items"]
    assert worker["abilities"] == list(ABILITIES)
