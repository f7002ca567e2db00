"""`webhooks` of a flat body: callbacks that come with a new job."""

from tickwell.services.access.actor import Role

JOBS = "http://test/api/jobs"
HOOKS = {"onSuccess": "https://example.com/well", "onFailure": "https://example.com/failed"}
JOB = {"name": "told", "schedule": "0 2 * * *", "url": "https://example.com/hook"}


async def test_callbacks_come_with_a_job(house):
    admin = await house.key("a", Role.ADMIN)
    added = await house.http.post(JOBS, json=JOB | {"webhooks": HOOKS}, headers=admin)
    assert added.status_code == 201, added.text
    found = (await house.http.get("/callbacks", headers=admin)).json()["items"]
    told = {each["url"]: (each["events"], each["job_id"]) for each in found}
    assert told == {
        HOOKS["onSuccess"]: (["succeeded"], added.json()["id"]),
        HOOKS["onFailure"]: (["dead"], added.json()["id"]),
    }


async def test_a_refused_callback_leaves_no_job(house):
    admin = await house.key("a", Role.ADMIN)
    wrong = JOB | {"webhooks": HOOKS | {"onFailure": "ftp://example.com"}}
    refused = await house.http.post(JOBS, json=wrong, headers=admin)
    assert refused.json()["errors"][0]["pointer"] == "/webhooks/onFailure"
    assert (await house.http.get(f"{JOBS}/told", headers=admin)).status_code == 404
    assert (await house.http.get("/callbacks", headers=admin)).json()["items"] == []


async def test_an_editor_adds_jobs_without_callbacks_only(house):
    editor = await house.key("a", Role.EDITOR)
    refused = await house.http.post(JOBS, json=JOB | {"webhooks": HOOKS}, headers=editor)
    assert refused.status_code == 403
    assert (await house.http.get(f"{JOBS}/told", headers=editor)).status_code == 404
