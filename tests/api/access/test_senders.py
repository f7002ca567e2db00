"""The jobs that send callbacks: as callbacks, the admins'."""

import pytest

from tickwell.services.access.permission import Role


@pytest.fixture
async def sender(house):
    """Its key in paths, with headers of an editor and of an admin."""
    admin, editor = await house.key("a", Role.ADMIN), await house.key("a", Role.EDITOR)
    body = {"url": "https://example.com/told", "events": ["dead"]}
    made = await house.http.post("/callbacks", json=body, headers=admin)
    assert made.status_code == 201, made.text
    return f"callback-{made.json()['id']}", editor, admin


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


async def test_an_ordinary_job_may_be_called_as_it_likes(house):
    editor = await house.key("a", Role.EDITOR)
    job = {"name": "callback-mine", "trigger": {"on_demand": True}, "tags": ["callback"]}
    job["target"] = {"call": {"handler": "x"}}
    assert (await house.http.post("/jobs", json=job, headers=editor)).status_code == 201
    assert (await house.http.delete("/jobs/callback-mine", headers=editor)).status_code == 200
