"""Every change over the API leaves exactly one entry, and no secret in it."""

from tickwell.services.access.permission import Role

JOB = {"name": "j", "trigger": {"on_demand": True}, "target": {"call": {"handler": "x"}}}
CANARY = "canary-value-7731"


async def count(house):
    """Entries in all chains."""
    records = []
    for project in ("a", "_platform", "new"):
        records += await house.world.store.list_records("audit", project, "", 0)
    return sum(len(record.document["entries"]) for record in records)


async def test_one_entry_for_each_change(house):
    admin, root = await house.key("a", Role.ADMIN), await house.login("root")
    key = (
        await house.http.post("/keys", json={"name": "k", "role": "viewer"}, headers=admin)
    ).json()
    long = "correct horse battery"
    changes = [
        (admin, "POST", "/jobs", JOB),
        (admin, "PATCH", "/jobs/j", {"description": "x"}),
        (admin, "PUT", "/jobs/j", JOB),
        (admin, "POST", "/jobs/j/pause", None),
        (admin, "POST", "/jobs/j/resume", None),
        (admin, "POST", "/jobs/j/trigger", {"payload": {"password": CANARY}}),
        (admin, "POST", "/callbacks", {"url": "https://example.com/", "events": ["dead"]}),
        (admin, "DELETE", "/jobs/j", None),
        (admin, "POST", "/keys", {"name": "ci", "role": "viewer"}),
        (admin, "POST", f"/keys/{key['id']}/rotate", None),
        (admin, "DELETE", f"/keys/{key['id']}", None),
        (admin, "PUT", "/secrets/s", {"value": CANARY}),
        (admin, "DELETE", "/secrets/s", None),
        (admin, "PUT", "/retention", {"age": "7d"}),
        (admin, "PUT", "/members/m", {"role": "viewer"}),
        (admin, "DELETE", "/members/m", None),
        (root, "POST", "/users", {"name": "u", "password": CANARY}),
        (root, "PATCH", "/users/u", {"disabled": True}),
        (root, "POST", "/users/u/link", None),
        (root, "DELETE", "/users/u", None),
        (root, "POST", "/projects", {"name": "new", "admin": "x"}),
        (root, "PUT", "/projects/new/admins/y", None),
        (root, "PUT", "/projects/new/limits", {"jobs": 5}),
        (root, "GET", "/projects/new/export", None),
        (root, "DELETE", "/projects/new", None),
        (root, "POST", "/tokens", None),
        (root, "POST", "/platform/rewrap", None),
        (await house.login("root"), "DELETE", "/session", None),
        (root, "PUT", "/session/password", {"new": long}),
    ]
    for headers, method, path, body in changes:
        before = await count(house)
        sent = headers | ({"if-match": "*"} if path == "/jobs/j" else {})
        answer = await house.http.request(method, path, json=body, headers=sent)
        assert answer.status_code < 300, (method, path, answer.text)
        assert await count(house) == before + 1, (method, path)


async def test_a_refused_change_leaves_none(house):
    admin = await house.key("a", Role.ADMIN)
    before = await count(house)
    for method, path, body in [
        ("POST", "/jobs", {"name": "j"}),
        ("DELETE", "/jobs/none", None),
        ("DELETE", "/keys/none", None),
        ("PUT", "/secrets/s", {"value": "x"}),
        ("POST", "/users", {"name": "u"}),
    ]:
        answer = await house.http.request(method, path, json=body, headers=admin)
        assert 400 <= answer.status_code < 500
    assert await count(house) == before


async def test_entries_say_who_from_where_under_which_id(house):
    admin = await house.key("a", Role.ADMIN)
    await house.http.put(
        "/secrets/s", json={"value": CANARY}, headers=admin | {"x-request-id": "req-1"}
    )
    log = await house.http.get("/audit", headers=admin, params={"limit": 1})
    (entry,) = log.json()["items"]
    assert entry["action"] == "secret.set"
    assert entry["request_id"] == "req-1"
    assert entry["address"] == "127.0.0.1"
    assert entry["actor"].startswith("key:")
    assert CANARY not in log.text
    verified = (await house.http.get("/audit/verify", headers=admin)).json()
    assert verified["problem"] is None
