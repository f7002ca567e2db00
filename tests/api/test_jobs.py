"""Jobs over HTTP."""

import asyncio
import base64
import hashlib

import pytest

from tests.api.conftest import CALL, HOOK
from tickwell.domain.policy import Retention
from tickwell.services.access.actor import Permission
from tickwell.services.operations import paging

CRON = {"cron": "0 9 * * mon-fri", "tz": "Europe/Rome"}


async def test_a_job_is_added_and_read(world, http):
    body = {"name": "report", "trigger": CRON, "target": HOOK, "retry": {"max_attempts": 5}}
    answer = await http.post("/jobs", json=body)
    assert answer.status_code == 201
    job = answer.json()
    assert answer.headers["etag"] == '"1"'
    assert answer.headers["location"] == f"/api/v1/jobs/{job['id']}"
    assert job["trigger"] == CRON
    assert job["state"] == "active"
    for key in ("report", job["id"]):
        read = await http.get(f"/jobs/{key}")
        assert read.json() == job
        assert read.headers["etag"] == '"1"'
    assert world.journal.entries == [("local", "job.create", f"job/{job['id']}")]


async def test_a_known_dedupe_key_answers_with_its_job(world, http):
    first = await world.add(dedupe_key="order-1")
    again = await world.add("another", status=200, dedupe_key="order-1")
    assert again["id"] == first["id"]
    assert len(world.journal.entries) == 1


async def test_a_taken_name_is_a_conflict(world, http):
    await world.add()
    body = {"name": "report", "trigger": CRON, "target": HOOK}
    answer = await http.post("/jobs", json=body)
    assert answer.status_code == 409
    assert answer.json()["type"] == "urn:tickwell:problem:job-exists"


async def test_more_than_fifty_tags_are_refused(world, http):
    many = [str(number) for number in range(51)]
    refused = await world.add("many", status=422, tags=many)
    assert [each["pointer"] for each in refused["errors"]] == ["/tags"]
    job = {"name": "many", "trigger": {"on_demand": True}, "target": CALL, "tags": many}
    batch = await http.post("/jobs/batch", json={"jobs": [job]})
    assert [each["pointer"] for each in batch.json()["errors"]] == ["/jobs/0/tags"]


async def test_a_name_of_spaces_is_refused_and_a_tag_is_kept_once(world, http):
    assert (await world.add(tags=["a", "b"] + ["a"] * 2000))["tags"] == ["a", "b"]
    answer = await http.post("/jobs", json={"name": "  ", "trigger": CRON, "target": HOOK})
    assert answer.status_code == 422
    assert "Spaces alone are no name" in answer.text


async def test_lists_are_filtered_and_paged(world, http):
    for number in range(5):
        await world.add(f"job-{number}", tags=["odd" if number % 2 else "even"], queue="q")
    await world.add("other", queue="r")

    async def names(**query):
        page = (await http.get("/jobs", params=query)).json()
        return [job["name"] for job in page["items"]], page["next_cursor"]

    assert await names(tag="odd") == (["job-1", "job-3"], None)
    assert await names(queue="r") == (["other"], None)
    assert await names(search="THE") == (["other"], None)
    assert await names(state="paused") == ([], None)
    first, cursor = await names(queue="q", limit=3)
    assert first == ["job-0", "job-1", "job-2"]
    assert await names(queue="q", limit=3, cursor=cursor) == (["job-3", "job-4"], None)
    refused = await http.get("/jobs", params={"queue": "r", "cursor": cursor})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["parameter"] == "cursor"
    assert (await http.get("/jobs", params={"stat": "paused"})).status_code == 422


async def test_what_was_read_can_be_sent_back_changed(world, http):
    job = await world.add()
    job["priority"] = 7
    answer = await http.put("/jobs/report", json=job, headers={"if-match": '"1"'})
    assert answer.status_code == 200, answer.text
    assert answer.json()["job"]["priority"] == 7
    assert answer.headers["etag"] == '"2"'
    stale = await http.put("/jobs/report", json=job, headers={"if-match": '"1"'})
    assert stale.status_code == 412
    versions = (await http.get("/jobs/report/versions")).json()["items"]
    assert [each["version"] for each in versions] == [2, 1]
    assert [each["definition"]["version"] for each in versions] == [2, 1]
    assert {each["definition"]["created_at"][-1] for each in versions} == {"Z"}


async def test_definitions_that_are_very_large_come_page_by_page(world, http, monkeypatch):
    monkeypatch.setattr(paging, "MOST_BYTES", 250)
    await world.add(payload="x" * 100)
    for version in (1, 2, 3):
        change = {"priority": version, "payload": "x" * (100 if version < 3 else 300)}
        headers = {"if-match": f'"{version}"'}
        await http.patch("/jobs/report", json=change, headers=headers)
    found = []
    asked: dict[str, str] = {}
    while True:
        page = (await http.get("/jobs/report/versions", params=asked)).json()
        found.append([each["version"] for each in page["items"]])
        if page["next_cursor"] is None:
            break
        asked = {"cursor": page["next_cursor"]}
    assert found == [[4], [3, 2], [1]]
    forged = world.context.cursors.seal("x", "versions", "default", "report")
    refused = await http.get("/jobs/report/versions", params={"cursor": forged})
    assert refused.status_code == 422


@pytest.mark.parametrize("path", ["/jobs", "/executions", "/jobs/report/versions"])
async def test_a_cursor_that_a_client_made_is_refused_with_advice(world, http, path):
    await world.add()
    # The digest that cursors once had, which took no key.
    text = '[{"$regex": "(a+)+$"}, "a", "b"]'
    digest = hashlib.blake2b(repr((text,)).encode(), digest_size=12).digest()
    for raw in (digest + text.encode(), bytes(40), b"[]"):
        cursor = base64.urlsafe_b64encode(raw).decode()
        refused = await http.get(path, params={"cursor": cursor})
        assert refused.status_code == 422
        assert "next_cursor" in refused.text


async def test_a_cursor_of_one_list_is_refused_by_another(world, http):
    for name in ("a", "b"):
        await world.add(name)
    cursor = (await http.get("/jobs", params={"limit": 1})).json()["next_cursor"]
    assert (await http.get("/jobs", params={"limit": 5, "cursor": cursor})).is_success
    for path, more in (("/jobs", {"tag": "x"}), ("/executions", {}), ("/jobs/a/versions", {})):
        refused = await http.get(path, params={"cursor": cursor} | more)
        assert refused.status_code == 422
    world.as_actor(*Permission, project="other")
    assert (await http.get("/jobs", params={"cursor": cursor})).status_code == 422


async def test_a_job_has_the_retention_that_it_says_or_else_the_projects(world, http):
    async def project(_name):
        return Retention(count=7)

    world.operation_context.retention = project
    spelled = {"retention": {"age": "30d", "count": 1000, "dead": "90d"}}
    await world.add("silent")
    await world.add("spelled", **spelled)
    batch = [{"name": each, "trigger": {"on_demand": True}, "target": CALL} for each in "ab"]
    await http.post("/jobs/batch", json={"jobs": [batch[0], batch[1] | spelled]})
    for name in ("silent", "spelled"):  # without the field a job keeps what it has
        await http.put(f"/jobs/{name}", json=batch[0] | {"name": name}, headers={"if-match": "*"})

    async def kept(*names):
        found = await world.store.get_jobs("default", names)
        return [entry.job.retention.count for entry in found]

    assert await kept("silent", "a", "spelled", "b") == [7, 7, 1000, 1000]
    for patch in ({"priority": 7}, {"retention": None}):
        before = await kept("spelled")
        await http.patch("/jobs/spelled", json=patch, headers={"if-match": "*"})
    assert (before, await kept("spelled")) == ([1000], [7])


async def test_of_several_tags_one_has_to_match(world, http):
    await world.add()

    async def edit(tags):
        answer = await http.patch("/jobs/report", json={"priority": 7}, headers={"if-match": tags})
        return answer.status_code

    assert await edit('"7", "1"') == 200
    assert await edit('"7" , "1"') == 412
    assert await edit('"7", W/"2"') == 412
    assert await edit('"x", "2"') == 200
    assert await edit('"3", 4') == 412


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
async def test_an_edit_says_what_it_was_made_from(world, http, method):
    await world.add()
    answer = await http.request(method, "/jobs/report", json={"priority": 7})
    assert answer.status_code == 428
    answer = await http.request(
        method, "/jobs/report", json={"priority": 7}, headers={"if-match": 'W/"1"'}
    )
    assert answer.status_code == 412


@pytest.fixture
async def overtaken(world, http, monkeypatch):
    """Who reads the job in order to change it is overtaken by another edit, once."""
    await world.add()
    read = world.operation_context.jobs.get

    async def overtake(project, key):
        found = await read(project, key)
        monkeypatch.setattr(world.operation_context.jobs, "get", read)
        edit = {"priority": 7}
        assert (await http.patch(f"/jobs/{key}", json=edit, headers={"if-match": "*"})).is_success
        return found

    monkeypatch.setattr(world.operation_context.jobs, "get", overtake)


@pytest.mark.usefixtures("overtaken")
async def test_a_patch_that_expects_no_version_is_laid_over_whatever_is_there(http):
    edit = {"description": "new"}
    answer = await http.patch("/jobs/report", json=edit, headers={"if-match": "*"})
    assert answer.status_code == 200, answer.text
    job = (await http.get("/jobs/report")).json()
    assert (job["version"], job["priority"], job["description"]) == (3, 7, "new")


@pytest.mark.usefixtures("overtaken")
@pytest.mark.parametrize("method", ["PATCH", "PUT", "DELETE"])
async def test_who_expects_a_version_is_told_of_one_that_came_in_between(http, method):
    edit = {"name": "report", "trigger": {"on_demand": True}, "target": CALL, "priority": 3}
    edit = edit if method == "PUT" else {"priority": edit["priority"]}
    answer = await http.request(method, "/jobs/report", json=edit, headers={"if-match": '"1"'})
    assert answer.status_code == 412, answer.text
    assert (await http.get("/jobs/report")).json()["priority"] == 7


async def test_a_patch_changes_what_it_names(world, http):
    await world.add(retry={"max_attempts": 5, "delay": "1m"}, description="old")
    patch = {"retry": {"max_attempts": 7}, "description": None, "tags": ["a"]}
    answer = await http.patch("/jobs/report", json=patch, headers={"if-match": "*"})
    assert answer.status_code == 200, answer.text
    job = answer.json()["job"]
    assert job["retry"] == {"max_attempts": 7, "delay": "1m"}
    assert "description" not in job
    assert job["tags"] == ["a"]


@pytest.mark.parametrize(
    "field", ["id", "project", "version", "state", "next_fire_time", "declared", "fence"]
)
async def test_nobody_writes_what_the_service_says(world, http, field):
    body = {"name": "report", "trigger": CRON, "target": HOOK, field: "x"}
    answer = await http.post("/jobs", json=body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == f"/{field}"
    await world.add()
    answer = await http.patch("/jobs/report", json={field: "x"}, headers={"if-match": "*"})
    assert answer.status_code == 422


async def test_a_hint_names_no_field_that_is_refused(world, http):
    body = {"name": "a", "trigger": {"on_demand": True}, "target": CALL}
    for field in ("colour", "projet"):
        answer = await http.post("/jobs", json=body | {field: 1})
        hint = answer.json()["errors"][0]["hint"]
        assert "priority" in hint
        assert not {"id", "project", "version", "saved_at", "app"} & set(hint.split(", "))


async def test_a_deleted_job_is_gone(world, http):
    await world.add()
    assert (await http.delete("/jobs/report", headers={"if-match": '"9"'})).status_code == 412
    assert (await http.delete("/jobs/report")).status_code == 200
    assert (await http.get("/jobs/report")).status_code == 404
    assert (await http.delete("/jobs/report")).status_code == 404
    actions = [action for _, action, _ in world.journal.entries]
    assert actions == ["job.create", "job.delete"]


async def test_of_those_who_delete_a_job_at_once_one_did_it(world, http, monkeypatch):
    await world.add()
    change, all_there = world.store.change_jobs, asyncio.Barrier(4)

    async def together(*given):
        await all_there.wait()
        return await change(*given)

    monkeypatch.setattr(world.store, "change_jobs", together)
    answers = await asyncio.gather(*(http.delete("/jobs/report") for _ in range(4)))
    assert sorted(answer.status_code for answer in answers) == [200, 404, 404, 404]
    actions = [action for _, action, _ in world.journal.entries]
    assert actions == ["job.create", "job.delete"]


async def test_a_batch_is_all_or_none(world, http):
    good = {"name": "a", "trigger": CRON, "target": HOOK}
    bad = {"name": "b", "trigger": {"cron": "nonsense"}, "target": HOOK}
    answer = await http.post("/jobs/batch", json={"jobs": [good, bad, good, {"name": "c"}]})
    assert answer.status_code == 422
    pointers = [each["pointer"] for each in answer.json()["errors"]]
    assert pointers == ["/jobs/1/trigger/cron", "/jobs/2/name", "/jobs/3/trigger", "/jobs/3/target"]
    assert (await http.get("/jobs")).json()["items"] == []
    answer = await http.post("/jobs/batch", json={"jobs": [good, {**good, "name": "b"}]})
    assert answer.status_code == 201
    assert [job["name"] for job in answer.json()["items"]] == ["a", "b"]
    taken = await http.post("/jobs/batch", json={"jobs": [{**good, "name": "z"}, good]})
    assert taken.status_code == 409
    assert "a job named 'a' exists already" in taken.json()["detail"]
    several = [{**good, "name": name} for name in "zab"]
    taken = await http.post("/jobs/batch", json={"jobs": several})
    assert "2 of these names are taken: 'a', 'b'" in taken.json()["detail"]
    assert (await http.get("/jobs/z")).status_code == 404
    assert [action for _, action, _ in world.journal.entries] == ["job.create_many"]


async def test_a_thousand_jobs_come_in_one_request(world, http):
    jobs = [{"name": f"j{number}", "trigger": CRON, "target": CALL} for number in range(1000)]
    answer = await http.post("/jobs/batch", json={"jobs": jobs})
    assert answer.status_code == 201
    assert len(answer.json()["items"]) == 1000
    answer = await http.post("/jobs/batch", json={"jobs": [*jobs, jobs[0]]})
    assert answer.status_code == 422


async def test_the_old_paths_take_flat_bodies(world, http):
    flat = {
        "name": "ping",
        "schedule": "0 2 * * *",
        "timezone": "Asia/Kolkata",
        "url": "https://example.com/x",
        "method": "PUT",
        "headers": {"X-Team": "a"},
        "enabled": False,
    }
    answer = await http.post("http://test/api/jobs", json=flat)
    assert answer.status_code == 201, answer.text
    job = answer.json()
    assert job["trigger"] == {"cron": "0 2 * * *", "tz": "Asia/Kolkata"}
    assert job["target"]["http"]["method"] == "PUT"
    assert job["state"] == "paused"
    assert (await http.get("http://test/api/jobs/ping")).json() == job
    for schedule in ("no", "0 25 * * *"):
        other = flat | {"name": "p", "schedule": schedule}
        wrong = await http.post("http://test/api/jobs", json=other)
        assert wrong.status_code == 422
        assert wrong.json()["errors"][0]["pointer"] == "/schedule"
    assert (await http.post("/jobs", json=flat)).status_code == 422
    edited = await http.put("http://test/api/jobs/ping", json={**flat, "schedule": "0 3 * * *"})
    assert edited.status_code == 200
    for method, enabled in (("PUT", True), ("PATCH", False), ("PATCH", True)):
        other = {**flat, "enabled": enabled}
        changed = await http.request(method, "http://test/api/jobs/ping", json=other)
        assert changed.status_code == 200, changed.text
        assert changed.json()["job"]["state"] == ("active" if enabled else "paused")
