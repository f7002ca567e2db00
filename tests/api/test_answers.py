"""Answers to what executions wait for: by operators, and by anybody with the address."""

import pytest

from tickwell.services.access.actor import Permission
from tickwell.services.executions.answers import answer_token


@pytest.fixture
async def waiting(world, http):
    """An execution that waits for an approval."""
    await world.add()
    id = (await http.post("/jobs/report/trigger")).json()["id"]
    await world.ask()
    return id


async def test_an_operator_answers(world, http, waiting):
    (asked,) = (await http.get(f"/executions/{waiting}")).json()["waits"]
    assert (asked["name"], asked["state"], asked["answer"]) == ("approval", "open", None)
    body = {"name": "approval", "answer": {"ok": True}}
    answer = await http.post(f"/executions/{waiting}/answer", json=body)
    assert answer.status_code == 200, answer.text
    assert answer.json()["state"] == "queued"
    (asked,) = answer.json()["waits"]
    assert (asked["state"], asked["answer"], asked["by"]) == ("answered", {"ok": True}, "local")
    assert answer.json()["steps"] == []
    again = await http.post(f"/executions/{waiting}/answer", json=body)
    assert again.status_code == 409
    assert again.json()["type"] == "urn:tickwell:problem:wrong-state"
    assert ("local", "execution.answer", f"execution/{waiting}") in world.journal.entries


async def test_a_viewer_does_not_answer(world, http, waiting):
    world.as_actor(Permission.READ)
    body = {"name": "approval", "answer": True}
    assert (await http.post(f"/executions/{waiting}/answer", json=body)).status_code == 403
    assert (await http.post(f"/executions/{waiting}/answer", json={"name": "x"})).status_code == 403


async def test_what_is_not_asked_is_not_found(http, waiting):
    for id, name in ((waiting, "other"), ("01a1f058-c092-7ab1-8439-6d3eb977c6f4", "approval")):
        answer = await http.post(f"/executions/{id}/answer", json={"name": name, "answer": 1})
        assert answer.status_code == 404


async def test_who_has_the_address_answers_once(world, http, waiting):
    token = answer_token(world.context.cursors, "default", waiting, "approval")
    world.as_actor()  # nobody in particular
    answer = await http.post(f"/answers/{token}", json={"answer": "no"})
    assert answer.status_code == 200, answer.text
    assert answer.json() == {"execution": waiting, "name": "approval"}
    assert (await http.post(f"/answers/{token}", json={"answer": "yes"})).status_code == 409
    assert (await http.get(f"/answers/{token}")).status_code == 405
    [step] = await world.store.list_steps("default", waiting)
    assert (step.value["answer"], step.value["by"]) == ("no", "signed link")
    assert ("signed link", "execution.answer", f"execution/{waiting}") in world.journal.entries


async def test_an_address_that_was_changed_is_none(world, http, waiting):
    good = answer_token(world.context.cursors, "default", waiting, "approval")
    cursor = world.context.cursors.seal(f'["default","{waiting}","approval"]', "executions")
    flipped = good[:-1] + ("A" if good[-1] != "A" else "B")
    for token in (flipped, good[:-4], f"A{good[1:]}", "x", "é", cursor, good[30:]):
        answer = await http.post(f"/answers/{token}", json={"answer": "yes"})
        assert answer.status_code == 404, token
    [step] = await world.store.list_steps("default", waiting)
    assert not step.is_final


async def test_an_address_of_another_project_or_too_late_answers_nothing(
    world, http, waiting, monkeypatch
):
    world.as_actor()
    foreign = answer_token(world.context.cursors, "acme", waiting, "approval")
    assert (await http.post(f"/answers/{foreign}", json={"answer": "yes"})).status_code == 404
    [step] = await world.store.list_steps("default", waiting)
    token = answer_token(world.context.cursors, "default", waiting, "approval")
    monkeypatch.setattr(world.clock, "now", lambda: step.value["expires_at"])
    late = await http.post(f"/answers/{token}", json={"answer": "yes"})
    assert (late.status_code, late.json()["type"]) == (409, "urn:tickwell:problem:wrong-state")
    [after] = await world.store.list_steps("default", waiting)
    assert after == step
