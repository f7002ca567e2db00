"""Literal credentials are shown to nobody, and survive being sent back."""

import base64
from typing import Any

import pytest

from tickwell.domain.execution import OutcomeKind
from tickwell.services.access.actor import Permission

KEY = "whsec_" + base64.b64encode(bytes(range(32))).decode()
OTHER = "whsec_" + base64.b64encode(bytes(range(1, 33))).decode()
LITERALS: dict[str, Any] = {
    "url": "https://example.com/hook?team=7&api_key=canary-url&key=canary-key",
    "headers": {"X-Api-Key": "canary-header", "X-Team": "7", "X-Id": "Bearer canary-scheme"},
    "query": {"access_token": "canary-query", "at": "{{fire_time}}"},
    "auth": {"basic": {"user": "ada", "password": "canary-password"}},
    "sign_with": [KEY, "{{secret.next}}"],
    "certificate": "canary-certificate",
    "json": {
        "apiKey": "canary-body",
        "key": "order-7",
        "value": "plain",
        "token_type": "plain",
        "tokens": 7,
        "users": [{"name": "ada"}, {"name": "bob", "password": "canary-nested"}],
        "secret": "{{secret.body}}",
    },
}
SHOWN = {
    "url": "https://example.com/hook?team=7&api_key={{masked}}&key={{masked}}",
    "headers": {"X-Api-Key": "{{masked}}", "X-Team": "7", "X-Id": "{{masked}}"},
    "query": {"access_token": "{{masked}}", "at": "{{fire_time}}"},
    "auth": {"basic": {"user": "ada", "password": "{{masked}}"}},
    "sign_with": ["{{masked.1}}", "{{secret.next}}"],
    "certificate": "{{masked}}",
    "json": LITERALS["json"]
    | {
        "apiKey": "{{masked}}",
        "users": [{"name": "ada"}, {"name": "bob", "password": "{{masked}}"}],
    },
}
ANY = {"if-match": "*"}
#: Nothing here depends on the store.
pytestmark = pytest.mark.parametrize("store", ["sqlite"], indirect=True)


async def stored(world, name="report"):
    (entry,) = await world.store.get_jobs("default", [name])
    return entry.job


@pytest.fixture
async def report(world):
    return await world.add(target={"http": LITERALS})


async def test_no_answer_shows_a_literal_credential(world, http, report):
    await http.patch("/jobs/report", json={"priority": 7}, headers=ANY)
    answers = [
        await http.get("/jobs/report"),
        await http.get("/jobs"),
        await http.get("/jobs/report/versions"),
        await http.post("/jobs/report/pause"),
        await http.post("/jobs/report/resume"),
        await http.put("/jobs/report", json=(await http.get("/jobs/report")).json(), headers=ANY),
        await http.post("/jobs/report/trigger"),
        await http.delete("/jobs/report"),
    ]
    assert report["target"]["http"] == SHOWN
    for answer in answers:
        assert answer.is_success, answer.text
        assert "canary" not in answer.text
        assert KEY not in answer.text


async def test_what_was_read_can_be_sent_back_changed_elsewhere(world, http, report):
    body = (await http.get("/jobs/report")).json() | {"priority": 9}
    body["target"]["http"]["headers"]["X-Team"] = "8"
    answer = await http.put("/jobs/report", json=body, headers=ANY)
    assert answer.status_code == 200, answer.text
    job = await stored(world)
    assert (job.priority, job.target.headers["X-Team"]) == (9, "8")
    assert job.target.headers["X-Api-Key"] == "canary-header"
    assert job.target.url == LITERALS["url"]
    assert job.target.query["access_token"] == "canary-query"
    assert job.target.auth.password == "canary-password"
    assert job.target.certificate == "canary-certificate"
    assert job.target.body.value == LITERALS["json"]
    assert job.target.sign_with == (KEY, "{{secret.next}}")


async def test_a_patch_changes_one_credential_and_keeps_the_others(world, http, report):
    patch = {"target": {"http": {"headers": {"X-Api-Key": "{{secret.key}}"}}}}
    answer = await http.patch("/jobs/report", json=patch, headers=ANY)
    assert answer.status_code == 200, answer.text
    target = (await stored(world)).target
    assert target.headers["X-Api-Key"] == "{{secret.key}}"
    assert target.auth.password == "canary-password"
    shown = answer.json()["job"]["target"]["http"]["headers"]
    assert shown["X-Api-Key"] == "{{secret.key}}"


async def test_one_signing_key_of_several_can_be_taken_out(world, http, report):
    patch = {"target": {"http": {"sign_with": [KEY, OTHER]}}}
    await http.patch("/jobs/report", json=patch, headers=ANY)
    patch = {"target": {"http": {"sign_with": ["{{masked.2}}"]}}}
    answer = await http.patch("/jobs/report", json=patch, headers=ANY)
    assert answer.status_code == 200, answer.text
    assert (await stored(world)).target.sign_with == (OTHER,)


@pytest.mark.parametrize(
    "url", ["https://evil.example/hook", "https://example.com:8443/hook", "http://example.com/hook"]
)
async def test_a_masked_credential_is_not_sent_to_another_host(world, http, report, url):
    refused = [
        await http.patch("/jobs/report", json={"target": {"http": {"url": url}}}, headers=ANY)
    ]
    body = (await http.get("/jobs/report")).json()
    body["target"]["http"]["url"] = url
    refused.append(await http.put("/jobs/report", json=body, headers=ANY))
    for answer in refused:
        assert answer.status_code == 422, answer.text
        assert "a different host" in answer.text
        assert "{{secret.name}}" in answer.text
    assert (await stored(world)).target.url == LITERALS["url"]


async def test_a_mask_that_stands_for_nothing_is_refused(world, http, report):
    body = {"name": "copy", "trigger": {"on_demand": True}, "target": report["target"]}
    answers = [
        await http.post("/jobs", json=body),
        await http.post("/jobs/batch", json={"jobs": [body]}),
        await http.patch(
            "/jobs/report",
            json={"target": {"http": {"headers": {"X-New": "{{masked}}"}}}},
            headers=ANY,
        ),
        await http.patch(
            "/jobs/report",
            json={"target": {"http": {"json": None, "text": "{{masked}}"}}},
            headers=ANY,
        ),
        await http.patch(
            "/jobs/report",
            json={"target": {"http": {"headers": {"X-Api-Key": "v2-{{masked}}"}}}},
            headers=ANY,
        ),
    ]
    for answer in answers:
        assert answer.status_code == 422, answer.text
        assert "no value is stored" in answer.text
    assert (await stored(world)).version == 1


async def test_a_key_without_read_learns_no_definition(world, http, report):
    world.as_actor(Permission.OPERATE, Permission.EDIT)
    new = {"name": "new", "trigger": {"on_demand": True}, "target": {"call": {"handler": "x"}}}
    brief = {"id", "project", "version", "state"}
    again = new | {"name": "again", "dedupe_key": "d", "payload": "canary"}
    for answer in (
        await http.post("/jobs/report/pause"),
        await http.post("/jobs/report/resume"),
        await http.patch("/jobs/report", json={"priority": 7}, headers=ANY),
        await http.put("/jobs/report", json=new | {"name": "report"}, headers=ANY),
    ):
        assert answer.is_success, answer.text
        assert set(answer.json()["job"]) == brief
        assert answer.headers["etag"]
    for _ in range(2):  # the second time it is the job that was there
        assert set((await http.post("/jobs", json=again)).json()) == brief
    batch = (await http.post("/jobs/batch", json={"jobs": [new | {"name": "b"}]})).json()
    assert [set(each) for each in batch["items"]] == [brief]
    bulk = (await http.post("/bulk/pause", json={"filter": {}})).json()
    assert (bulk["matched"], bulk["changed"], bulk["names"]) == (3, 3, [])
    deleted = await http.delete("/jobs/report")
    assert set(deleted.json()["job"]) == brief


async def test_a_key_without_read_learns_nothing_of_an_execution(world, http):
    await world.add(payload="canary")
    (claim,) = await world.die("dies", error="canary")
    world.as_actor(Permission.OPERATE)
    revived = (await http.post(f"/executions/{claim.id}/revive")).json()
    assert (revived["payload"], revived["error"], revived["attempts"]) == (None, None, [])
    cancelled = (await http.post(f"/executions/{claim.id}/cancel")).json()
    assert cancelled["state"] == "cancelled"
    assert cancelled["error"] is None


async def test_a_key_without_read_learns_no_result_by_asking_again(world, http):
    await world.add()
    key = {"Idempotency-Key": "nightly"}
    first = await http.post("/jobs/report/trigger", json={"payload": {"a": 1}}, headers=key)
    await world.run(OutcomeKind.FAILED, error="canary", retry=False, why_final="canary")
    world.as_actor(Permission.OPERATE, name="key:other")
    again = await http.post("/jobs/report/trigger", json={"payload": {"a": 1}}, headers=key)
    assert (first.status_code, again.status_code) == (202, 202)
    assert again.json()["id"] == first.json()["id"]
    assert again.json()["state"] == "dead"
    assert "canary" not in again.text


async def test_a_key_without_read_learns_no_job_by_its_calendar(world, http):
    calendar = {"dates": ["2099-12-24"]}
    await http.put("/calendars/closed", json=calendar)
    days = {"start": "2099-12-24T00:00:00Z", "until": "2099-12-26T00:00:00Z"}
    await world.add("canary", trigger={"cron": "0 9 * * *", "exclude": ["closed"]} | days)
    everything = {"dates": ["2099-12-24", "2099-12-25"]}
    refused = (await http.put("/calendars/closed", json=everything)).json()["refused"]
    assert list(refused) == ["canary"]
    world.as_actor(Permission.EDIT)
    answer = await http.put("/calendars/closed", json=everything)
    assert (answer.status_code, answer.json()["refused"]) == (200, {})
