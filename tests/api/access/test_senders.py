"""The jobs that send callbacks and alerts: only admins change them."""

import json
from typing import Any

import pytest

from tests.api.conftest import WORKER
from tests.api.test_many import progress
from tickwell.domain.execution import OutcomeKind
from tickwell.domain.outcome import Outcome, decide
from tickwell.ports.records import ClaimRequest
from tickwell.services.access.actor import Role

URL = "https://example.com/told"
MADE = {
    "callback": ("/callbacks", {"url": URL, "events": ["dead"]}),
    "channel": ("/alerts/channels", {"url": URL, "name": "ops", "kind": "webhook"}),
}


@pytest.fixture(params=MADE)
async def sender(house, request):
    """Its key in paths, with headers of an editor and of an admin."""
    admin, editor = await house.key("a", Role.ADMIN), await house.key("a", Role.EDITOR)
    path, body = MADE[request.param]
    made = await house.http.post(path, json=body, headers=admin)
    assert made.status_code == 201, made.text
    return f"{request.param}-{made.json()['id']}", editor, admin


async def test_an_editor_neither_changes_nor_deletes_them(house, sender):
    name, editor, admin = sender
    path, elsewhere = f"/jobs/{name}", {"target": {"http": {"url": "https://example.com/mine"}}}
    any_version = {"if-match": "*"}
    whole = {"name": name, "trigger": {"on_demand": True}} | elsewhere
    http = house.http
    asked = [("PATCH", elsewhere), ("PUT", whole), ("DELETE", None)]
    for method, body in asked:
        answer = await http.request(method, path, json=body, headers=editor | any_version)
        assert answer.status_code == 403, (method, answer.text)
    done = await http.post("/bulk/delete", json={"filter": {}}, headers=editor)
    assert (done.json()["changed"], list(done.json()["refused"])) == (0, [name])
    found = (await http.get(path, headers=editor)).json()
    assert found["target"]["http"]["url"] == "https://example.com/told"
    for method, body in asked:
        answer = await http.request(method, path, json=body, headers=admin | any_version)
        assert answer.status_code == 200, (method, answer.text)


async def die(world):
    """What waits to be sent ends as a dead letter; its id."""
    now = world.clock.now()
    await world.store.beat(WORKER, now)
    request = ClaimRequest(
        worker=WORKER.id,
        claim_id="sent",
        now=now,
        lead=0,
        limit=1,
        queues=("default",),
        abilities=frozenset({"http"}),
    )
    (claim,) = await world.store.claim(request)
    refused = Outcome(kind=OutcomeKind.FAILED, error="HTTP 400", retry=False, started_at=now)
    await world.store.finish([decide(claim, refused, now)], now)
    return claim.id


async def test_what_they_send_is_nobody_s_but_an_admin_s_to_choose(house, sender):
    name, editor, admin = sender
    forged, http = {"payload": {"type": "execution.succeeded"}}, house.http
    answer = await http.post(f"/jobs/{name}/trigger", json=forged, headers=editor)
    assert answer.status_code == 403, answer.text
    bulk = {"filter": {"search": name}} | forged
    done = (await http.post("/bulk/trigger", json=bulk, headers=editor)).json()
    assert (done["changed"], list(done["refused"])) == (0, [name])
    assert (await http.post(f"/jobs/{name}/trigger", headers=admin)).status_code == 202
    dead = await die(house.world)
    answer = await http.post(f"/executions/{dead}/revive", json=forged, headers=editor)
    assert answer.status_code == 403, answer.text
    assert (await http.post(f"/executions/{dead}/revive", headers=editor)).status_code == 200
    answer = await http.post(f"/jobs/{name}/trigger", json=forged, headers=admin)
    assert answer.status_code == 202, answer.text


async def test_many_are_repeated_without_them(house, sender):
    name, editor, admin = sender
    http, world = house.http, house.world
    job = {"name": "mine", "trigger": {"on_demand": True}, "target": {"call": {"handler": "x"}}}
    await http.post("/jobs", json=job | {"retry": {"max_attempts": 1}}, headers=editor)
    for path, shown in (("mine", editor), (name, admin)):
        assert (await http.post(f"/jobs/{path}/trigger", headers=shown)).status_code == 202
    await world.run(OutcomeKind.FAILED, error="no")
    await die(world)
    for shown, revived in ((editor, 1), (admin, 2)):
        answer = await http.post("/dead-letters/revive", json={"payload": {}}, headers=shown)
        assert answer.status_code == 202, answer.text
        done = await progress(http, answer, shown)
        assert (done["state"], done["error"], done["revived"]) == ("done", None, revived)
        assert done["left_out"] == 2 - revived
        why = f"{name} sends callbacks or alerts; only admins may do this"
        assert done["refused"] == ({} if revived == 2 else {name: why})


PLACES: list[dict[str, Any]] = [
    {"sign_with": ["{{KEY}}"]},
    {"headers": {"X": "{{ KEY }}"}},
    {"query": {"x": "{{KEY}}"}},
    {"body": {"deep": [{"x": "so: {{KEY}}"}]}},
    {"body": "{{KEY}}"},
    {"auth": {"bearer": {"token": "{{KEY}}"}}},
    {"url": "https://example.com/{{KEY}}"},
]


async def test_the_key_that_signs_them_is_out_of_an_editor_s_reach(house, sender):
    name, editor, admin = sender
    http, any_version = house.http, {"if-match": "*"}
    plain = {"url": "https://example.com/mine", "method": "POST"}
    job = {"name": "mine", "trigger": {"on_demand": True}, "target": {"http": plain}}
    assert (await http.post("/jobs", json=job, headers=editor)).status_code == 201
    for number, place in enumerate(PLACES):
        given = json.loads(json.dumps(place).replace("KEY", f"secret.{name}"))
        target = {"target": {"http": plain | given}}
        new = job | {"name": f"mine-{number}"} | target
        for method, path, body in (
            ("POST", "/jobs", new),
            ("POST", "/jobs/batch", {"jobs": [job | {"name": "first"}, new]}),
            ("PATCH", "/jobs/mine", target),
        ):
            answer = await http.request(method, path, json=body, headers=editor | any_version)
            assert answer.status_code == 403, (method, path, place, answer.text)
        assert (await http.post("/jobs", json=new, headers=admin)).status_code == 201


async def test_an_ordinary_job_may_be_called_as_it_likes(house):
    editor = await house.key("a", Role.EDITOR)
    job = {"name": "callback-mine", "trigger": {"on_demand": True}, "tags": ["callback"]}
    job["target"] = {"call": {"handler": "x"}}
    assert (await house.http.post("/jobs", json=job, headers=editor)).status_code == 201
    assert (await house.http.delete("/jobs/callback-mine", headers=editor)).status_code == 200


async def test_an_operator_neither_pauses_resumes_nor_cancels_them(house, sender):
    name, _, admin = sender
    http, operator = house.http, await house.key("a", Role.OPERATOR)
    run = (await http.post(f"/jobs/{name}/trigger", headers=admin)).json()
    asked = (f"/jobs/{name}/pause", f"/jobs/{name}/resume", f"/executions/{run['id']}/cancel")
    for path in asked:
        answer = await http.post(path, headers=operator)
        assert answer.status_code == 403, (path, answer.text)
    done = await http.post("/bulk/pause", json={"filter": {}}, headers=operator)
    assert (done.json()["changed"], list(done.json()["refused"])) == (0, [name])
    assert (await http.post(asked[0], headers=admin)).status_code == 200
    done = await http.post("/bulk/resume", json={"filter": {}}, headers=operator)
    assert (done.json()["changed"], list(done.json()["refused"])) == (0, [name])
    for path in asked[1:]:
        answer = await http.post(path, headers=admin)
        assert answer.status_code == 200, (path, answer.text)
