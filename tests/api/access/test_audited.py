"""Every operation writes the audit entry that it declares, no other one, and no secret in it."""

import re

from tickwell.api.routes import ALL
from tickwell.domain.execution import OutcomeKind
from tickwell.services.access.actor import Role
from tickwell.services.executions.answers import answer_token

#: An answer without an end.
STREAMS = {"stream_events"}
JOB = {"name": "j", "trigger": {"every": "1h"}, "target": {"call": {"handler": "x"}}}
PAST = {"since": "2026-01-01T00:00:00Z", "until": "2026-01-01T03:00:00Z"}
OCCURRENCE = {"at": "2100-01-01T09:00:00Z"}
RULE = {"condition": "failing", "times": 3}
SILENCE = {"until": "2100-01-01T00:00:00Z", "why": "moving"}
CLOSED = {"dates": ["2030-12-24"]}
CALLBACK = {"url": "https://example.com/", "events": ["dead"]}
CHANNEL = {"name": "ops", "kind": "pagerduty", "key": "canary-value-7731"}
CANARY = "canary-value-7731"
DECLARED = {each.id: each for each in ALL if each.id not in STREAMS}
QUERIES = {"preview_cron": {"expr": "0 9 * * *"}, "job_slots": PAST}
BODIES = {"preview_trigger": {"trigger": {"every": "1h"}}}


async def actions(house):
    """The actions of the entries in all chains, by id."""
    records = []
    for project in ("a", "_platform", "new"):
        records += await house.world.store.list_records("audit", project, "", 0)
    entries = [entry for record in records for entry in record.document["entries"]]
    return {entry["id"]: entry["action"] for entry in entries}


async def count(house):
    """Entries in all chains."""
    return len(await actions(house))


async def written_by(house, method, url, **options):
    """The actions that one request puts on record."""
    before = await actions(house)
    answer = await house.http.request(method, url, **options)
    assert answer.status_code < 300, (method, url, answer.text)
    return [action for id, action in (await actions(house)).items() if id not in before]


def operation_of(method, path):
    """The declaration that a request is for."""
    (found,) = (
        each
        for each in DECLARED.values()
        if each.method == method
        and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", each.path), path)
        and (each.path == path or path not in {other.path for other in DECLARED.values()})
    )
    return found


async def dead_letters(house, shown, count):
    """The ids of executions of a job `d` that died."""
    job = JOB | {"name": "d", "retry": {"max_attempts": 1}}
    await house.http.post("/jobs", json=job, headers=shown)
    for _ in range(count):
        await house.http.post("/jobs/d/trigger", headers=shown)
    return [claim.id for claim in await house.world.run(OutcomeKind.FAILED, error="no")]


async def test_an_operation_writes_the_one_entry_that_it_declares(house):
    admin, root = await house.key("a", Role.ADMIN), await house.login("root")
    dead, *_ = await dead_letters(house, admin, 3)
    for _ in range(2):
        await house.http.post("/jobs/d/trigger", headers=admin)
    asking, linked = [claim.id for claim in await house.world.ask()]
    token = answer_token(house.world.context.cursors, "a", linked, "approval")
    live = (await house.http.post("/jobs/d/trigger", headers=admin)).json()["id"]
    made = await house.http.post("/callbacks", json=CALLBACK, headers=admin)
    callback, link = made.json()["id"], await house.link("root")
    rule = (await house.http.post("/alerts/rules", json=RULE, headers=admin)).json()["id"]
    silence = (await house.http.post("/alerts/silences", json=SILENCE, headers=admin)).json()["id"]
    key = (
        await house.http.post("/keys", json={"name": "k", "role": "viewer"}, headers=admin)
    ).json()
    daily = JOB | {"name": "daily", "trigger": {"cron": "0 9 * * *"}}
    await house.http.post("/jobs", json=daily, headers=admin)
    long = "correct horse battery"
    changes = [
        (admin, "POST", "/jobs", JOB),
        (admin, "PATCH", "/jobs/j", {"description": "x"}),
        (admin, "PUT", "/jobs/j", JOB),
        (admin, "POST", "/jobs/j/pause", None),
        (admin, "POST", "/jobs/j/resume", None),
        (admin, "POST", "/jobs/j/trigger", {"payload": {"password": CANARY}}),
        (admin, "POST", "/jobs/j/backfill", PAST),
        (admin, "POST", "/jobs/daily/skip", OCCURRENCE),
        (admin, "POST", "/jobs/daily/unskip", OCCURRENCE),
        (admin, "POST", "/monitors", {"name": "backup", "every": "1d"}),
        (admin, "POST", "/monitors/backup/rotate", None),
        (admin, "POST", "/ping-key", None),
        (admin, "POST", "/jobs/batch", {"jobs": [JOB | {"name": f"many-{n}"} for n in range(3)]}),
        (admin, "POST", f"/executions/{live}/cancel", None),
        (admin, "POST", f"/executions/{asking}/answer", {"name": "approval", "answer": True}),
        ({}, "POST", f"/answers/{token}", {"answer": CANARY}),
        (admin, "POST", f"/executions/{dead}/revive", None),
        (admin, "POST", "/dead-letters/revive", {"filter": {"job": "j"}}),
        (admin, "POST", "/dead-letters/purge", {"filter": {}}),
        (admin, "POST", "/bulk/pause", {"filter": {"search": "many"}}),
        (admin, "POST", "/bulk/resume", {"filter": {"search": "many"}}),
        (admin, "POST", "/bulk/trigger", {"filter": {"search": "many"}}),
        (admin, "POST", "/bulk/delete", {"filter": {"search": "many"}}),
        (admin, "POST", "/project/pause", {"note": "moving"}),
        (admin, "POST", "/project/resume", None),
        (root, "POST", "/platform/pause", {"note": "moving"}),
        (root, "POST", "/platform/resume", None),
        (admin, "PUT", "/maintenance/move", {"length": "2h"}),
        (admin, "POST", "/maintenance/move/end", None),
        (admin, "DELETE", "/maintenance/move", None),
        (root, "PUT", "/platform/maintenance/move", {"length": "2h"}),
        (root, "POST", "/platform/maintenance/move/end", None),
        (root, "DELETE", "/platform/maintenance/move", None),
        (admin, "POST", "/backlog/answer", {"answer": "skip"}),
        (root, "POST", "/platform/backlog/answer", {"answer": "all", "rate": 5}),
        (root, "POST", "/queues/mail/pause", None),
        (root, "POST", "/queues/mail/resume", None),
        (admin, "POST", "/callbacks", CALLBACK),
        (admin, "DELETE", f"/callbacks/{callback}", None),
        (admin, "POST", "/alerts/channels", CHANNEL),
        (admin, "POST", "/alerts/channels/ops/test", None),
        (admin, "DELETE", "/alerts/channels/ops", None),
        (admin, "POST", "/alerts/rules", RULE),
        (admin, "DELETE", f"/alerts/rules/{rule}", None),
        (admin, "POST", "/alerts/silences", SILENCE),
        (admin, "DELETE", f"/alerts/silences/{silence}", None),
        (admin, "POST", "/alerts/test", None),
        (admin, "PUT", "/calendars/closed", CLOSED),
        (admin, "DELETE", "/calendars/closed", None),
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
        ({}, "POST", "/session", {"link": link}),
        (await house.login("root"), "DELETE", "/session", None),
        (root, "PUT", "/session/password", {"new": long}),
    ]
    declared = [operation_of(method, path) for _, method, path, _ in changes]
    audited = {each.id for each in DECLARED.values() if each.audit}
    assert {each.id for each in declared} == audited
    wrong = []
    for operation, (headers, method, path, body) in zip(declared, changes, strict=True):
        sent = headers | ({"if-match": "*"} if path == "/jobs/j" else {})
        written = await written_by(house, method, path, json=body, headers=sent)
        house.http.cookies.clear()
        if written != [operation.audit]:
            wrong.append((operation.id, operation.audit, written))
    assert wrong == []


async def test_an_operation_that_declares_no_entry_writes_none(house):
    admin, root = await house.key("a", Role.ADMIN), await house.login("root")
    await dead_letters(house, admin, 1)
    run = (await house.http.post("/jobs/d/trigger", headers=admin)).json()["id"]
    revived = await house.http.post("/dead-letters/revive", json={"filter": {}}, headers=admin)
    await house.http.put("/calendars/closed", json=CLOSED, headers=admin)
    await house.http.post("/alerts/channels", json=CHANNEL, headers=admin)
    await house.http.post("/monitors", json={"name": "backup", "every": "1d"}, headers=admin)
    values = {
        "/monitors/": "backup",
        "/alerts/channels/": "ops",
        "/calendars/": "closed",
        "/jobs/": "d",
        "/executions/": run,
        "/dead-letters/revivals/": revived.json()["id"],
        "/workers/": "w",
    }
    wrong = []
    for operation in DECLARED.values():
        if operation.audit:
            continue
        assert operation.method == "GET" or operation.reads, operation.id
        noun = operation.path.partition("{")[0]
        path = re.sub(r"\{\w+\}", values.get(noun, ""), operation.path)
        base = "http://test" if operation.at_root else "http://test/api/v1"
        written = await written_by(
            house,
            operation.method,
            base + path,
            params=QUERIES.get(operation.id),
            json=BODIES.get(operation.id),
            headers=root | {"x-tickwell-project": "a"},
        )
        if written:
            wrong.append((operation.id, written))
    assert wrong == []


async def test_an_act_on_many_says_on_which(house):
    admin = await house.key("a", Role.ADMIN)
    jobs = [JOB | {"name": f"many-{n}"} for n in range(60)]
    made = await house.http.post("/jobs/batch", json={"jobs": jobs}, headers=admin)
    ids = [job["id"] for job in made.json()["items"]]
    where = {"filter": {"search": "many-1"}}
    await house.http.post("/bulk/pause", json=where, headers=admin)
    await house.http.post("/bulk/delete", json={"filter": {"search": "many-1"}}, headers=admin)
    await house.http.post("/dead-letters/purge", json={"filter": {"search": "x"}}, headers=admin)
    log = (await house.http.get("/audit", headers=admin, params={"limit": 4})).json()["items"]
    after = {entry["action"]: entry["after"] for entry in log}
    assert after["dead_letters.purge"] == {"matched": 0, "filter": {"search": "x"}}
    states = ["active", "finished", "paused"]
    for action in ("bulk.pause", "bulk.delete"):
        assert after[action]["matched"] == 11
        assert after[action]["filter"] == {"search": "many-1", "states": states}
        assert set(after[action]["ids"]) == {ids[n] for n in (1, *range(10, 20))}
    assert after["job.create_many"] == {"created": 60, "ids": ids[:50], "not_named": 10}


async def test_instants_are_told_as_everywhere_in_the_api(house):
    admin, root = await house.key("a", Role.ADMIN), await house.login("root")
    http, moment = house.http, "2026-01-01T00:00:00.000Z"
    past = {"since": moment, "until": "2026-01-01T03:00:00.000Z"}
    told = {"url": "https://example.com/", "events": ["dead"]}
    await http.post("/jobs", json=JOB, headers=admin)
    await http.post("/jobs/j/backfill", json=past, headers=admin)
    await http.post("/dead-letters/purge", json={"filter": {"since": moment}}, headers=admin)
    await http.post("/dead-letters/revive", json={"filter": {"until": moment}}, headers=admin)
    await http.post("/queues/mail/pause", headers=root)
    await http.post("/queues/mail/resume", headers=root)
    made = {"name": "k", "role": "viewer", "expires_at": "2100-01-01T00:00:00.000Z"}
    key = (await http.post("/keys", json=made, headers=root)).json()
    callback = (await http.post("/callbacks", json=told, headers=root)).json()
    platform = (await http.get("/platform/audit", headers=root)).json()["items"]
    log = platform + (await http.get("/audit", headers=admin)).json()["items"]
    entries = {entry["action"]: entry for entry in reversed(log)}
    after = {action: entry["after"] for action, entry in entries.items()}
    assert after["job.create"]["created_at"].endswith("Z")
    assert after["job.backfill"] == past | {"force": False, "executions": 3}
    assert after["dead_letters.purge"]["filter"] == {"since": moment}
    assert after["dead_letters.revive"]["filter"] == {"until": moment}
    assert re.fullmatch(r"20\d\d-.*Z", after["queue.pause"]["since"])
    assert entries["queue.resume"]["before"] == after["queue.pause"]
    for action, shown in (("key.create", key), ("callback.create", callback)):
        assert after[action] == {name: shown[name] for name in after[action]}
        assert {"created_at", "id"} <= after[action].keys()
    assert after["key.create"]["expires_at"] == made["expires_at"]


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
