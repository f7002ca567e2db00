import itertools
from dataclasses import replace

import pytest

from tests.api.access.conftest import OWNER
from tickwell.services.access.actor import Actor, Permission, Role
from tickwell.services.access.members import give_role
from tickwell.services.admin.admin import make_admin
from tickwell.services.limits.quota import Quota
from tickwell.settings import Settings
from tickwell.testing import ManualClock


async def status(house, headers, method="GET", path="/jobs", **options):
    return (await house.http.request(method, path, headers=headers, **options)).status_code


async def test_a_key_in_either_header(house):
    shown = await house.key("a", Role.VIEWER)
    token = shown["authorization"].split()[1]
    assert await status(house, shown) == 200
    assert await status(house, {"x-api-key": token}) == 200
    assert await status(house, {"authorization": f"bearer {token}"}) == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer tw_0123456789abcdef_" + "A" * 43},
        {"authorization": "Basic cm9vdDpyb290"},
        {"authorization": "Bearer"},
        {"x-api-key": "x"},
        {"authorization": "Bearer ey.ey.ey"},
        {"cookie": "tickwell=made-up"},
    ],
)
async def test_nobody_is_let_in_and_nobody_is_told_why(house, headers):
    answer = await house.http.get("/jobs", headers=headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert answer.headers["ratelimit-policy"] == '"address";q=100;w=900'
    assert answer.headers["ratelimit"].startswith('"address";r=99;')


async def test_a_key_that_may_do_nothing_is_not_made(house):
    body = {"name": "x", "role": "viewer", "permissions": []}
    answer = await house.http.post("/keys", json=body, headers=await house.key("a", Role.ADMIN))
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert error["pointer"] == "/permissions"
    assert error["detail"] == "must have at least 1 item"


async def test_a_hundred_requests_without_a_key_and_no_more(house, monkeypatch):
    # However long they take, no time passes: every nine seconds one more is allowed.
    monkeypatch.setattr(house.limits, "_clock", ManualClock())
    codes = [await status(house, {}) for _ in range(101)]
    assert codes == [401] * 100 + [429]
    answer = await house.http.get("/jobs")
    assert int(answer.headers["retry-after"]) == 9
    assert answer.headers["ratelimit-policy"] == '"address";q=100;w=900'
    assert answer.headers["ratelimit"] == '"address";r=0;t=9'
    assert await status(house, await house.key("a", Role.VIEWER)) == 200


async def test_all_keys_of_a_project_together_have_a_limit(house, monkeypatch):
    limits = house.admin.limits
    await limits.set(OWNER, "a", Quota(requests_per_minute=3))
    one, other = await house.key("a", Role.VIEWER), await house.key("a", Role.ADMIN)
    monkeypatch.setattr(limits, "_clock", ManualClock())
    # One that names another project is counted too.
    asked = [one, other, one | {"x-tickwell-project": "b"}, other]
    assert [await status(house, shown) for shown in asked] == [200, 200, 404, 429]
    answer = await house.http.get("/jobs", headers=one)
    assert answer.headers["ratelimit"] == '"project";r=0;t=20'
    assert answer.headers["retry-after"] == "20"
    assert await status(house, await house.key("b", Role.VIEWER)) == 200


async def test_all_changes_of_a_project_together_have_a_limit(house, monkeypatch):
    limits, audit = house.admin.limits, house.admin.audit
    one, other = await house.key("a", Role.ADMIN), await house.key("a", Role.EDITOR)
    job = {"name": "report", "trigger": {"every": "1h"}, "target": {"call": {"handler": "x"}}}
    assert await status(house, one, "POST", json=job) == 201
    await limits.set(OWNER, "a", Quota(changes_per_minute=3))
    monkeypatch.setattr(limits, "_clock", ManualClock())
    preview = {"json": {"trigger": job["trigger"]}}
    asked = [
        (await status(house, one, "POST", "/jobs/report/pause"), 200),
        (await status(house, one, "POST", "/triggers/preview", **preview), 200),
        (await status(house, other, "POST", "/jobs/report/resume"), 200),
        (await status(house, one, "POST", "/jobs/none/pause"), 404),
        (await status(house, other, "POST", "/jobs/report/pause"), 429),
        (await status(house, one, "DELETE", "/jobs/report", json=None), 429),
        (await status(house, one, "POST", "/triggers/preview", **preview), 200),
        (await status(house, one, "GET", "/jobs/report"), 200),
    ]
    assert [found for found, _ in asked] == [wanted for _, wanted in asked]
    refused = await house.http.post("/jobs/report/pause", headers=one)
    assert "3 changes in 60 s are allowed for one project. Send jobs in batches" in refused.text
    assert refused.headers["ratelimit"] == '"changes";r=0;t=20'
    assert refused.headers["retry-after"] == "20"
    entries = await audit.list(replace(OWNER, project="a"))
    assert [each.action for each in entries.items].count("job.pause") == 1
    assert await status(house, await house.key("b", Role.EDITOR), "POST", json=job) == 201


@pytest.mark.parametrize(("settings", "limit"), [({}, 3_000), ({"max_changes_per_minute": 0}, 0)])
async def test_changes_have_a_limit_by_default(house, settings, limit):
    keyring = house.admin.keyring
    made = make_admin(house.world.operation_context, Settings(**settings), keyring)
    assert (await made.limits.get(replace(OWNER, project="a"))).changes_per_minute == limit


async def test_a_key_names_its_own_project_or_none(house):
    shown = await house.key("a", Role.VIEWER)
    assert await status(house, shown | {"x-tickwell-project": "a"}) == 200
    assert await status(house, shown | {"x-tickwell-project": "b"}) == 404
    assert await status(house, shown | {"x-tickwell-project": "none"}) == 404


async def test_a_narrowed_key(house):
    shown = await house.key("a", Role.ADMIN, permissions=frozenset({Permission.READ}))
    assert await status(house, shown) == 200
    assert await status(house, shown, "GET", "/keys") == 403


async def test_a_key_that_may_only_operate_runs_and_cancels_what_it_may_not_read(house):
    admin = await house.key("a", Role.ADMIN)
    job = {"name": "report", "trigger": {"on_demand": True}, "target": {"call": {"handler": "x"}}}
    assert await status(house, admin, "POST", "/jobs", json=job) == 201
    shown = await house.key("a", Role.ADMIN, permissions=frozenset({Permission.OPERATE}))
    answer = await house.http.post("/jobs/report/trigger", headers=shown)
    assert (answer.status_code, answer.json()["job_name"]) == (202, None)
    run = f"/executions/{answer.json()['id']}"
    cancelled = await house.http.post(f"{run}/cancel", headers=shown)
    assert (cancelled.status_code, cancelled.json()["state"]) == (200, "cancelled")
    assert await status(house, shown, "GET", run) == 403
    assert await status(house, shown, "GET", "/jobs/report") == 403


async def test_a_key_that_may_only_edit_says_whether_the_job_is_enabled(house):
    shown = await house.key("a", Role.ADMIN, permissions=frozenset({Permission.EDIT}))
    job = {"name": "x", "schedule": "0 2 * * *", "url": "https://example.com/x", "enabled": True}
    assert await status(house, shown, "POST", "http://test/api/jobs", json=job) == 201
    for enabled, expected in ((True, 200), (False, 422)):
        sent = {"json": job | {"enabled": enabled}}
        assert await status(house, shown, "PUT", "http://test/api/jobs/x", **sent) == expected


async def test_a_session_by_link_and_a_token_of_our_own(house):
    session = await house.login("root")
    me = (await house.http.get("/session", headers=session)).json()
    assert me["name"] == "user:root"
    assert me["project"] == "a"
    token = (await house.http.post("/tokens", headers=session)).json()["token"]
    bearer = {"authorization": f"Bearer {token}"}
    assert await status(house, bearer | {"x-tickwell-project": "a"}) == 200
    assert await status(house, bearer | {"x-tickwell-project": "b"}) == 404
    assert await status(house, bearer, "GET", "/projects") == 200
    assert "keys" in (await house.http.get("/jwks")).json()


async def test_the_cookie_is_out_of_reach_of_scripts_and_bound_to_the_host_over_tls(house):
    for scheme, name in (("http", "tickwell"), ("https", "__Host-tickwell")):
        link = await house.link("root")
        answer = await house.http.post(
            f"{scheme}://test/api/v1/session", json={"link": link}, headers={}
        )
        cookie = answer.headers["set-cookie"]
        parts = {part.strip().lower() for part in cookie.split(";")[1:]}
        assert cookie.startswith(f"{name}=")
        assert {"httponly", "samesite=lax", "path=/"} <= parts
        assert ("secure" in parts) is (scheme == "https")
        assert not any(part.startswith("domain") for part in parts)
        house.http.cookies.clear()


async def test_logging_in_gives_a_new_session_and_logging_out_ends_it(house):
    old = await house.login("root")
    new = await house.login("root", cookie=old["cookie"])
    assert new["cookie"] != old["cookie"]
    assert await status(house, old, path="/session") == 401
    assert await status(house, new, "DELETE", "/session") == 200
    assert await status(house, new, path="/session") == 401


@pytest.mark.parametrize(
    "changes",
    [
        {"x-csrf-token": ""},
        {"x-csrf-token": "0" * 64},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
async def test_another_site_cannot_make_a_browser_change_anything(house, changes):
    session = await house.login("root")
    good = session | {"origin": "http://test", "sec-fetch-site": "same-origin"}
    assert await status(house, good, "PUT", "/secrets/x", json={"value": "value"}) == 200
    bad = good | changes
    assert await status(house, bad, "PUT", "/secrets/y", json={"value": "value"}) == 401
    listed = await house.http.get("/secrets", headers=session)
    assert [each["name"] for each in listed.json()["items"]] == ["x"]


async def test_a_program_in_a_session_is_told_which_header_its_change_lacks(house):
    session = await house.login("root")
    bare = {name: value for name, value in session.items() if name.lower() != "x-csrf-token"}
    refused = await house.http.put("/secrets/x", headers=bare, json={"value": "value"})
    assert refused.status_code == 401
    assert "X-CSRF-Token" in refused.json()["detail"]


async def test_a_page_of_another_site_cannot_log_a_browser_in_or_out(house):
    link = await house.link("root")
    foreign = {"sec-fetch-site": "cross-site"}
    assert await status(house, foreign, "POST", "/session", json={"link": link}) == 401
    session = await house.login("root")
    assert await status(house, session | foreign, "DELETE", "/session") == 401
    assert await status(house, session, "GET", "/session") == 200


async def test_a_password_logs_in_over_http(house):
    root = await house.login("root")
    made = {"name": "Ada@example.com", "password": "correct horse battery"}
    assert await status(house, root, "POST", "/users", json=made) == 201
    assert await status(house, {}, "POST", "/session", json={"name": "x"}) == 422
    shown = {"name": "ada@example.com", "password": "correct horse battery"}
    assert await status(house, {}, "POST", "/session", json=shown) == 201
    wrong = shown | {"password": "wrong"}
    assert await status(house, {}, "POST", "/session", json=wrong) == 401


async def test_a_one_time_answer_is_not_kept_for_repetition(house):
    shown = await house.key("a", Role.ADMIN)
    body = {"name": "ci", "role": "viewer"}
    again = shown | {"idempotency-key": "k"}
    assert await status(house, again, "POST", "/keys", json=body) == 422
    assert await status(house, shown, "POST", "/keys", json=body) == 201


async def test_a_header_that_says_twice_who_asks_is_refused(house):
    shown = (await house.key("a", Role.VIEWER))["authorization"]
    names = ("Authorization", "X-API-Key")
    for pair in itertools.combinations_with_replacement(names, 2):
        answer = await house.http.get("/jobs", headers=[(name, shown) for name in pair])
        assert answer.status_code == 400
        assert (
            "more than one Authorization or X-API-Key header; send one" in answer.json()["detail"]
        )
        assert answer.headers["ratelimit"].startswith('"address";r=')


async def test_a_token_is_a_user_s(house):
    answer = await house.http.post("/tokens", headers=await house.key("a", Role.ADMIN))
    assert answer.status_code == 422
    assert "send the key itself" in answer.json()["detail"]


async def test_what_was_made_while_a_project_was_deleted_opens_nothing(house):
    await house.admin.users.create(OWNER, "late")
    await house.admin.projects.delete(OWNER, "a")
    # By another process, which had not heard of it.
    key = await house.key("a", Role.ADMIN)
    await give_role(house.admin.directory, house.world.clock, "late", "a", Role.ADMIN)
    assert await status(house, key) == 401
    session = await house.login("late")
    assert await status(house, session) == 403
    assert await status(house, session | {"x-tickwell-project": "a"}) == 404
    await give_role(house.admin.directory, house.world.clock, "late", "b", Role.VIEWER)
    assert await status(house, session) == 200


@pytest.mark.parametrize("named", ["b", "nobody-s"])
async def test_the_platform_is_asked_whatever_project_is_named(house, named):
    named = {"x-tickwell-project": named}
    root = named | await house.login("root")
    assert await status(house, root) == 404
    assert await status(house, root, path="/projects") == 200
    assert await status(house, root, path="/platform/audit") == 200
    other = await house.login("a-admin")
    assert await status(house, named | other, path="/projects") == 403


async def test_who_is_made_a_member_elsewhere_is_not_led_there(house):
    """Whoever administers one project can make anybody a member of it."""
    admin = Actor(name="user:root", project="b", permissions=frozenset(Permission))
    await house.admin.members.set(admin, "ursula", Role.EDITOR)
    cookie = await house.login("ursula")
    token = (await house.http.post("/tokens", headers=cookie)).json()["token"]
    shown = [cookie, {"authorization": f"Bearer {token}"}]
    await house.admin.members.set(replace(admin, project="a"), "ursula", Role.ADMIN)
    for headers in shown:
        assert (await house.http.get("/session", headers=headers)).json()["project"] == "b"
        named = headers | {"x-tickwell-project": "a"}
        assert (await house.http.get("/session", headers=named)).json()["project"] == "a"


async def test_a_token_has_no_cookies(house):
    admin = Actor(name="user:root", project="b", permissions=frozenset(Permission))
    for project in "ba":
        asker = replace(admin, project=project)
        await house.admin.members.set(asker, "ursula", Role.EDITOR)
    token = (await house.http.post("/tokens", headers=await house.login("ursula"))).json()["token"]
    shown = {"authorization": f"Bearer {token}", "cookie": "project=a; project-80=a"}
    assert (await house.http.get("/session", headers=shown)).json()["project"] == "b"


async def test_a_login_is_on_record_with_its_request(house):
    answer = await house.http.post("/session", json={"link": "made up"})
    (entry, *_) = (await house.admin.audit.list_platform(OWNER)).items
    assert (entry.action, entry.request_id) == ("session.refused", answer.headers["x-request-id"])


async def test_who_is_taken_out_of_their_first_project_says_which_they_mean(house):
    admin = Actor(name="user:root", project="b", permissions=frozenset(Permission))
    other, members = replace(admin, project="a"), house.admin.members
    await members.set(admin, "vera", Role.EDITOR)
    await members.set(admin, "bob", Role.ADMIN)
    shown = await house.login("vera")
    await members.set(other, "vera", Role.ADMIN)
    await members.remove(admin, "vera")
    answer = await house.http.get("/session", headers=shown)
    assert (answer.status_code, "Name one of a" in answer.text) == (422, True)
    await members.set(admin, "vera", Role.EDITOR)
    assert (await house.http.get("/session", headers=shown)).json()["project"] == "b"
