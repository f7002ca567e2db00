"""What the editor takes: no more than the API, and nothing of anybody else."""

import json

import pytest

from tests.ui.house import OWNER

JOB = {"name": "mine", "trigger": {"on_demand": True}, "target": {"call": {"handler": "x"}}}


async def send(browser, document, path="/jobs/save", **fields):
    text = document if isinstance(document, str) else json.dumps(document)
    return await browser.post(path, side="document", document=text, **fields)


@pytest.fixture
async def editor(house):
    browser = await house.login()
    await browser.see("/jobs/new")
    return browser


async def test_the_id_of_a_job_elsewhere_leads_nowhere(house):
    hidden = await house.add("hidden-job", payload={"token": "top"})
    await house.admin.projects.create(OWNER, "other", admin="eve")
    browser = await house.login("eve")
    await browser.see("/jobs/new")
    own = {"id": hidden, "project": "other", "app": "theirs", "declared": "x", "version": 7}
    answer = await send(browser, JOB | own)
    assert answer.status_code == 303, answer.text
    assert hidden not in answer.headers["location"]
    [entry] = await house.store.get_jobs("other", ["mine"])
    assert (entry.job.app, entry.job.declared, entry.job.version) == (None, None, 1)
    [theirs] = await house.store.get_jobs("default", [hidden])
    assert (theirs.job.name, theirs.job.version) == ("hidden-job", 1)
    assert "hidden-job" not in (await browser.see("/settings/audit")).text


@pytest.mark.parametrize(
    ("document", "marked"),
    [
        ({"name": "", "target": {"http": {"url": "https://"}}}, {"name", "url"}),
        ({"name": "", "target": {"call": {"handler": ""}}}, {"name", "handler"}),
        ({"name": "a", "target": {"http": {"url": ""}}, "trigger": {"cron": "99"}}, {"cron"}),
    ],
)
async def test_every_field_that_nobody_has_begun_is_marked(editor, document, marked):
    answer = await send(editor, {"trigger": {"every": "5m"}} | document)
    assert answer.status_code == 422
    tags = editor.read(answer).tags
    assert {found["id"] for _, found in tags if "aria-invalid" in found} >= marked


@pytest.mark.parametrize("id", ["../../etc", "x" * 5000])
async def test_an_id_is_never_what_somebody_typed(house, editor, id):
    answer = await send(editor, JOB | {"id": id})
    assert answer.status_code == 303, answer.text
    [entry] = await house.store.get_jobs("default", ["mine"])
    assert answer.headers["location"] == f"/jobs/{entry.job.id}"
    assert len(entry.job.id) == 36


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (json.dumps(JOB | {"payload": {str(n): n for n in range(1001)}}), "1000 fields"),
        (json.dumps(JOB | {"payload": ["x" * 60_000] * 5}), "262144 bytes"),
        (json.dumps(JOB | {"payload": "x" * 70_000}), "65536 characters"),
        (json.dumps(JOB)[:-1] + ', "name": "again"}', "name: is given twice"),
        (json.dumps(JOB | {"payload": 0}).replace("0", "[" * 40 + "]" * 40), "more than 32 deep"),
        (json.dumps(JOB | {"payload": 0}).replace("0", "[" * 9999), "more than 32 deep"),
        (json.dumps(JOB | {"payload": "\0"}), "payload: a text has no NUL"),
        (json.dumps(JOB | {"payload": "\ud800"}), "payload: contains an unpaired surrogate"),
        (
            json.dumps(JOB | {"description": "\ud800"}),
            "description: contains an unpaired surrogate",
        ),
        (json.dumps(JOB | {"tags": ["\udfff"]}), "tags.0: contains an unpaired surrogate"),
        (json.dumps(JOB | {"id": "\0"}), "id: a text has no NUL"),
        (json.dumps(JOB | {"payload": float("nan")}), "no number NaN"),
        ("{", "this is not JSON"),
    ],
)
async def test_a_document_keeps_to_the_bounds_of_the_api(house, editor, text, said):
    for path in ("/jobs/save", "/jobs/preview", "/jobs/try"):
        answer = await send(editor, text, path)
        assert answer.status_code == (422 if path == "/jobs/save" else 200), path
        assert said in editor.read(answer).text
    assert await house.store.get_jobs("default", ["mine", "again"]) == []


async def test_so_does_a_payload_of_one_run(house, editor):
    job = await house.add("mine")
    for text in ('"\\ud800"', '{"a": 1, "a": 2}', "[" * 40 + "]" * 40, "NaN"):
        answer = await editor.post(f"/jobs/{job}/trigger", payload=text)
        assert answer.status_code == 422, text


async def test_a_version_that_is_none_is_said(house, editor):
    job = await house.add("mine")
    answer = await send(editor, JOB, id=job, version="abc")
    assert answer.status_code == 422
    assert "version" in editor.read(answer).text


async def test_a_credential_is_masked_in_the_editor_and_survives_a_save(house, editor):
    headers = {"Authorization": "Bearer canary", "X-Team": "7"}
    target = {"http": {"url": "https://example.com/", "headers": headers}}
    assert (await send(editor, JOB | {"target": target})).status_code == 303
    [entry] = await house.store.get_jobs("default", ["mine"])
    id = entry.job.id
    for path in ("", "/edit", "/versions"):
        assert "canary" not in (await editor.see(f"/jobs/{id}{path}")).text
    assert "{{masked}}" in (await editor.see(f"/jobs/{id}/edit")).text
    shown = {"Authorization": "{{masked}}", "X-Team": "8"}
    edited = JOB | {"target": {"http": target["http"] | {"headers": shown}}}
    saved = await send(editor, edited, id=id, version="1")
    assert saved.status_code == 303, saved.text
    [entry] = await house.store.get_jobs("default", ["mine"])
    assert dict(entry.job.target.headers) == headers | {"X-Team": "8"}


async def test_a_document_may_add_a_job_as_paused_and_an_edit_does_not_change_that(house, editor):
    paused = {"state": "paused", "pause": {"why": "holidays"}}
    assert (await send(editor, JOB | paused)).status_code == 303
    [entry] = await house.store.get_jobs("default", ["mine"])
    assert (entry.cursor.state, entry.cursor.pause.why) == ("paused", "holidays")
    refused = await send(editor, JOB | {"state": "active"}, id=entry.job.id, version="1")
    assert refused.status_code == 422
    assert "cannot be edited. Pause or resume the job" in refused.text
    assert (await send(editor, JOB | {"state": "finished", "name": "b"})).status_code == 422
    same = JOB | paused | {"priority": 7}
    assert (await send(editor, same, id=entry.job.id, version="1")).status_code == 303
