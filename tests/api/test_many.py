"""Dead letters, bulk actions, queues and workers over HTTP."""

import asyncio

import pytest

from tests.api.conftest import WORKER
from tickwell.domain.execution import OutcomeKind
from tickwell.domain.payload import LARGEST
from tickwell.services.access.actor import Permission
from tickwell.services.operations.dead_letters import MOST_REVIVALS


async def test_dead_letters_are_grouped_by_what_went_wrong(world, http):
    await world.die("a", error="HTTP 500: request 4711 failed", times=3)
    await world.die("b", error="HTTP 404: gone", times=1)
    groups = (await http.get("/dead-letters/groups")).json()["items"]
    assert [(group["count"], group["jobs"]) for group in groups] == [(3, 1), (1, 1)]
    assert groups[0]["newest"]["job_name"] == "a"
    only = (await http.get("/dead-letters/groups", params={"job": "b"})).json()["items"]
    assert [group["count"] for group in only] == [1]


async def progress(http, answer, shown=None):
    """A revival, when it has ended."""
    path = answer.headers["location"].removeprefix("/api/v1")
    while True:
        revival = (await http.get(path, headers=shown)).json()
        if revival["state"] != "running":
            return revival
        await asyncio.sleep(0.01)


async def test_what_matches_is_revived_in_the_background(world, http):
    await world.die("a", error="HTTP 500: no", times=3)
    await world.die("b", error="boom", times=2)
    signature = (await http.get("/dead-letters/groups")).json()["items"][0]["signature"]
    body = {"filter": {"signature": signature}, "rate": 1000}
    answer = await http.post("/dead-letters/revive", json=body)
    assert answer.status_code == 202
    assert answer.json()["matched"] == 3
    revival = await progress(http, answer)
    assert (revival["state"], revival["revived"]) == ("done", 3)
    assert len(await world.run()) == 3
    left = (await http.get("/executions", params={"state": "dead"})).json()["items"]
    assert {each["job_name"] for each in left} == {"b"}
    everything = await progress(http, await http.post("/dead-letters/revive"))
    assert everything["revived"] == 2


async def test_what_matches_is_repeated_with_another_payload(world, http):
    dead = [claim.id for claim in await world.die("a", error="HTTP 500: no", times=3)]
    await world.die("b", error="boom", times=2)
    body = {"filter": {"search": "500"}, "rate": 1000, "payload": {"b": 1}}
    revival = await progress(http, await http.post("/dead-letters/revive", json=body))
    assert (revival["state"], revival["matched"], revival["revived"]) == ("done", 3, 3)
    claims = [claim for _ in range(3) for claim in await world.run()]  # in turn
    assert [claim.payload for claim in claims] == [{"b": 1}] * 3
    ran = (await http.get("/executions", params={"state": "succeeded"})).json()["items"]
    assert {each["revived_from"] for each in ran} == set(dead)
    assert len((await http.get("/executions", params={"state": "dead"})).json()["items"]) == 5


async def test_a_project_has_a_few_revivals_at_once(world, http):
    await world.die("a", times=20)
    body = {"rate": 0.01}  # each takes one, and the next 100 s later
    for _ in range(MOST_REVIVALS):
        assert (await http.post("/dead-letters/revive", json=body)).status_code == 202
    refused = await http.post("/dead-letters/revive", json=body)
    assert refused.status_code == 429
    assert "5 revivals of this project are in progress" in refused.json()["detail"]
    assert refused.headers["retry-after"] == "60"
    world.as_actor(*Permission, project="other")
    elsewhere = await http.post("/dead-letters/revive", json=body)
    assert elsewhere.status_code == 202


async def test_one_that_is_refused_or_has_ended_takes_no_place(world, http):
    await world.add("a")
    for _ in range(MOST_REVIVALS + 1):
        nobodys = {"filter": {"job": "nobody"}}
        assert (await http.post("/dead-letters/revive", json=nobodys)).status_code == 404
        answer = await http.post("/dead-letters/revive")
        assert answer.status_code == 202
        assert (await progress(http, answer))["state"] == "done"


async def test_those_of_a_deleted_job_are_not_repeated(world, http):
    await world.die("a", times=2)
    await world.die("b")
    await http.delete("/jobs/a")
    answer = await http.post("/dead-letters/revive", json={"payload": None})
    revival = await progress(http, answer)
    assert (revival["state"], revival["matched"], revival["revived"]) == ("done", 3, 1)
    assert (revival["left_out"], revival["refused"]) == (2, {"a": "no job 'a' in this project"})


async def test_a_payload_that_is_too_large_revives_nothing(world, http):
    await world.die("a")
    body = {"payload": "x" * LARGEST}
    answer = await http.post("/dead-letters/revive", json=body)
    assert answer.status_code in {413, 422}
    assert await world.run() == []


async def test_what_matches_is_purged_for_good(world, http):
    await world.die("a", error="HTTP 500: no", times=3)
    await world.die("b", error="boom", times=2)
    done = await http.post("/dead-letters/purge", json={"filter": {"job": "a"}})
    assert (done.status_code, done.json()) == (200, {"purged": 3, "more": False})
    left = (await http.get("/executions", params={"state": "dead"})).json()["items"]
    assert [each["job_name"] for each in left] == ["b", "b"]


@pytest.mark.parametrize("body", [{}, {"filter": None}, {"filter": {"id": "x"}}, {"rate": 1}])
async def test_a_purge_says_which(world, http, body):
    await world.die("a")
    assert (await http.post("/dead-letters/purge", json=body)).status_code == 422
    assert len((await http.get("/executions", params={"state": "dead"})).json()["items"]) == 1


@pytest.mark.parametrize("rate", [0, -1, 10**6, "fast", True, None])
async def test_a_rate_has_bounds(http, rate):
    answer = await http.post("/dead-letters/revive", json={"rate": rate})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/rate"


async def test_one_is_revived_under_its_id_or_anew(world, http):
    (claim,) = await world.die("a")
    edited = await http.post(f"/executions/{claim.id}/revive", json={"payload": {"b": 1}})
    assert edited.json()["revived_from"] == claim.id
    assert edited.json()["payload"] == {"b": 1}
    same = await http.post(f"/executions/{claim.id}/revive")
    assert same.json()["id"] == claim.id
    again = await http.post(f"/executions/{claim.id}/revive")
    assert again.status_code == 409


async def test_bulk_actions_are_tried_out_first(world, http):
    for number in range(3):
        await world.add(f"job-{number}", tags=["x"])
    await world.add("other")
    before = len(world.journal.entries)
    body = {"filter": {"tag": "x"}, "dry_run": True}
    tried = (await http.post("/bulk/pause", json=body)).json()
    assert (tried["matched"], tried["changed"]) == (3, 0)
    assert tried["names"] == ["job-0", "job-1", "job-2"]
    assert (await http.get("/jobs", params={"state": "paused"})).json()["items"] == []
    assert len(world.journal.entries) == before
    done = (await http.post("/bulk/pause", json={**body, "dry_run": False, "note": "x"})).json()
    assert (done["matched"], done["changed"]) == (3, 3)
    paused = (await http.get("/jobs", params={"state": "paused"})).json()["items"]
    assert [job["pause"]["why"] for job in paused] == ["x"] * 3
    again = (await http.post("/bulk/pause", json={"filter": {"tag": "x"}})).json()
    assert again["matched"] == 0
    assert (await http.post("/bulk/resume", json={"filter": {}})).json()["changed"] == 3
    triggered = (await http.post("/bulk/trigger", json={"filter": {"tag": "x"}})).json()
    assert triggered["changed"] == 3
    assert len((await http.get("/executions")).json()["items"]) == 3
    assert (await http.post("/bulk/delete", json={"filter": {"tag": "x"}})).json()["changed"] == 3
    assert [job["name"] for job in (await http.get("/jobs")).json()["items"]] == ["other"]
    actions = [action for _, action, _ in world.journal.entries[before:]]
    names = ["pause", "pause", "resume", "trigger", "delete"]
    assert actions == [f"bulk.{name}" for name in names]


async def test_a_bulk_action_needs_a_filter(http):
    assert (await http.post("/bulk/delete", json={})).status_code == 422
    wrong = await http.post("/bulk/delete", json={"filter": {"tga": "x"}})
    assert wrong.json()["errors"][0]["pointer"] == "/filter/tga"
    wrong = await http.post("/bulk/delete", json={"filter": {"states": ["gone"]}})
    assert wrong.status_code == 422


async def test_queues_have_a_depth_and_are_paused(world, http):
    await world.add("a", queue="slow")
    await http.post("/jobs/a/trigger")
    await world.store.beat(WORKER, world.clock.now())
    queues = {each["name"]: each for each in (await http.get("/queues")).json()["items"]}
    assert sum(queues["slow"]["depth"].values()) == 1
    assert queues["default"]["workers"] == 1
    paused = await http.post("/queues/slow/pause", json={"note": "moving"})
    pauses = {each["name"]: each["pause"] for each in paused.json()["items"]}
    assert pauses["slow"]["why"] == "moving"
    assert pauses["default"] is None
    assert (await http.post("/queues/slow/resume")).status_code == 200
    assert (await http.post("/queues/slow/resume")).status_code == 409
    world.as_actor(Permission.READ, Permission.OPERATE)
    assert (await http.post("/queues/slow/pause")).status_code == 403


async def test_workers_are_seen(world, http):
    await world.store.beat(WORKER, world.clock.now())
    workers = (await http.get("/workers")).json()["items"]
    assert [(each["id"], each["state"]) for each in workers] == [("w", "alive")]
    assert (await http.get("/workers/w")).json() == workers[0]
    assert (await http.get("/workers/none")).status_code == 404
    assert (workers[0]["host"], workers[0]["pid"]) == ("h", 1)


async def test_hosts_are_for_the_platform_and_handlers_for_editors(world, http):
    await world.run()
    world.as_actor(Permission.READ)
    (read,) = (await http.get("/workers")).json()["items"]
    assert (read["host"], read["pid"], read["abilities"]) == (None, None, [])
    assert (read["queues"], read["capacity"]) == (["default"], 99)
    assert (await http.get("/workers/w")).json() == read
    world.as_actor(Permission.READ, Permission.EDIT)
    assert (await http.get("/workers/w")).json() == read | {"abilities": ["call:*/x"]}


async def test_losses_are_counted_apart_from_failed_attempts(world, http):
    await world.add(retry={"max_attempts": 1, "delay": "0s", "max_losses": 2})
    id = (await http.post("/jobs/report/trigger")).json()["id"]
    await world.run(OutcomeKind.LOST)
    execution = (await http.get(f"/executions/{id}")).json()
    assert {name: execution[name] for name in ("attempt", "charged", "lost", "returned")} == {
        "attempt": 1,
        "charged": 0,
        "lost": 1,
        "returned": 0,
    }
    assert (execution["state"], execution["attempts"][0]["outcome"]) == ("waiting", "lost")


async def test_failed_attempts_are_seen_with_the_execution(world, http):
    await world.add(retry={"max_attempts": 2, "delay": "0s"})
    id = (await http.post("/jobs/report/trigger")).json()["id"]
    await world.run(OutcomeKind.FAILED, error="first")
    await world.run(OutcomeKind.FAILED, error="second")
    execution = (await http.get(f"/executions/{id}")).json()
    assert [each["error"] for each in execution["attempts"]] == ["first", "second"]
    assert execution["state"] == "dead"


async def test_what_is_wrong_with_a_filter_is_pointed_at(http):
    for wrong, pointer in (
        ({"tag": 1}, "/filter/tag"),
        ({"states": ["no"]}, "/filter/states/0"),
        ({"states": ["deleted"]}, "/filter/states/0"),
    ):
        answer = await http.post("/bulk/pause", json={"filter": wrong})
        assert answer.json()["errors"][0]["pointer"] == pointer
