"""Settings: what the forms do, what is shown once or never, and to whom."""

import json
from dataclasses import replace

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import expect

from tests.ui.conftest import NARROW
from tests.ui.house import OWNER
from tickwell.services.access.actor import Role
from tickwell.services.audit.block import KIND

ADMIN = ["members", "keys", "secrets", "callbacks", "audit"]
PLATFORM = ["users", "projects", "platform-audit"]


async def done(browser, path, **fields):
    """Send a form that answers with a page to go to."""
    answer = await browser.post(path, **fields)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


@pytest.fixture
async def admin(house):
    found = await house.login()
    await found.get("/settings")
    return found


async def test_members(house, admin):
    await done(admin, "/settings/members", name="Ada@example.com", role="viewer")
    await done(admin, "/settings/members", name="ada@example.com", role="operator")
    members = await house.admin.members.list(OWNER)
    assert members == [("ada@example.com", Role.OPERATOR), ("local", Role.ADMIN)]
    assert "ada@example.com" in (await admin.see("/settings/members")).text
    await done(admin, "/settings/members/remove", name="ada@example.com")
    assert len(await house.admin.members.list(OWNER)) == 1
    alone = await admin.post("/settings/members/remove", name="local")
    assert alone.status_code == 409
    assert "only admin" in alone.text
    assert (await admin.post("/settings/members", name="x", role="king")).status_code == 422


async def test_a_key_is_shown_once_and_works(house, admin):
    made = await admin.post("/settings/keys", name="ci", role="operator", life="90d")
    key = made.text.split("<code>tw_")[1].split("<")[0]
    assert made.text.count(f"tw_{key}") == 2  # itself, and in an example
    shown = {"authorization": f"Bearer tw_{key}"}
    plain = house.browser()
    assert (await plain.get("/api/v1/jobs", headers=shown)).status_code == 200
    assert (await plain.get("/api/v1/keys", headers=shown)).status_code == 403
    secret = key.partition("_")[2]
    page = await admin.see("/settings/keys")
    assert secret not in page.source
    id = key.partition("_")[0]
    turned = await admin.post(f"/settings/keys/{id}/rotate", overlap="1h")
    assert "<code>tw_" in turned.text
    assert (await plain.get("/api/v1/jobs", headers=shown)).status_code == 200
    await done(admin, f"/settings/keys/{id}/revoke")
    assert len(await house.admin.keys.list(OWNER)) == 2
    narrow = await admin.post("/settings/keys", name="n", role="admin", permissions="read")
    assert "only read" in narrow.text


async def test_a_secret_is_never_shown(house, admin):
    value = "canary-of-a-secret"
    for version in (1, 2):
        await done(admin, "/settings/secrets", name="token", value=value)
        (found,) = await house.admin.secrets.list(OWNER)
        assert found.version == version
    pages = [await admin.see(f"/settings/{each}") for each in ("secrets", "audit")]
    assert "{{secret.token}}" in pages[0].text
    assert not any(value in page.source for page in pages)
    await done(admin, "/settings/secrets/delete", name="token")
    assert "No secrets" in (await admin.see("/settings/secrets")).text
    short = await admin.post("/settings/secrets", name="token", value="abc")
    assert short.status_code == 422


async def test_a_callback_shows_the_key_that_signs_once(house, admin):
    job = await house.add("report")
    made = await admin.post(
        "/settings/callbacks", url="http://127.0.0.1:9/told", events=["dead", "failed"], job=job
    )
    assert made.text.count("whsec_") == 1
    page = await admin.see("/settings/callbacks")
    assert "whsec_" not in page.source
    assert "report" in page.text
    (found,) = await house.admin.callbacks.list(OWNER)
    await done(admin, f"/settings/callbacks/{found.id}/delete")
    assert await house.admin.callbacks.list(OWNER) == []
    assert (await admin.post("/settings/callbacks", url="http://x/")).status_code == 422


async def test_limits_of_a_project(house, admin):
    await done(admin, "/settings/projects/default/limits", jobs="1", payload="")
    assert (await house.admin.limits.get(OWNER)).jobs == 1
    await house.add("first")
    document = {
        "name": "second",
        "trigger": {"on_demand": True},
        "target": {"call": {"handler": "x"}},
    }
    refused = await admin.post("/jobs/save", side="document", document=json.dumps(document))
    assert refused.status_code == 422
    assert "1 job at most" in refused.text
    assert "no limit" in (await admin.see("/settings/limits")).text
    wrong = await admin.post("/settings/projects/default/limits", jobs="-1")
    assert wrong.status_code == 422


async def test_users_and_projects(house, admin):
    await done(admin, "/settings/users", name="ada", platform="true")
    made = await admin.post("/settings/users/link", name="ada")
    link = made.text.split("/login?link=")[1].split("<")[0]
    assert (await house.browser().post("/login", link=link)).status_code == 303
    await done(admin, "/settings/users/change", name="ada", platform="false")
    await done(admin, "/settings/users/change", name="ada", disabled="true")
    ada = await house.admin.directory.read("ada")
    assert (ada.platform, ada.disabled) == (False, True)
    assert await done(admin, "/settings/projects", name="acme", title="Acme") == (
        "/settings/projects/acme"
    )
    await done(admin, "/settings/projects/acme/admins", user="grace")
    export = await admin.get("/settings/projects/acme/export")
    assert export.headers["content-disposition"] == 'attachment; filename="acme.json"'
    assert export.json()["members"] == {"grace": "admin", "local": "admin"}
    await done(admin, "/settings/projects/acme/delete")
    await done(admin, "/settings/users/remove", name="ada")
    await done(admin, "/settings/rewrap")
    assert "project.delete" in (await admin.see("/settings/platform-audit")).text


async def test_the_audit_log_says_who_did_what_and_whether_it_is_whole(house, admin):
    for number in range(60):
        await house.admin.secrets.set(OWNER, f"s{number}", "long enough")
    page = await admin.see("/settings/audit")
    assert page.text.count("secret.set") == 50
    (older,) = [link for link in page.links if "cursor=" in link]
    assert (await admin.see(older)).text.count("secret.set") == 10
    assert "The chain is intact" in (await admin.see("/settings/audit?check=true")).text
    blocks = await house.store.list_records(KIND, "default", "", house.clock.now(), 100)
    changed = json.loads(json.dumps(blocks[3].document))
    changed["entries"][0]["actor"] = "user:somebody-else"
    await house.store.put_record(replace(blocks[3], document=changed), house.clock.now())
    assert "The chain is broken" in (await admin.see("/settings/audit?check=true")).text


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR, Role.EDITOR])
async def test_who_is_no_admin_sees_neither_pages_nor_tabs(house, role):
    await house.admin.members.set(OWNER, "ada", role)
    browser = await house.login("ada")
    page = await browser.see("/settings")
    links = {link for link in page.links if link.startswith("/settings/")}
    assert links == {"/settings/limits", "/settings/channels", "/settings/calendars"}
    for each in ADMIN + PLATFORM:
        assert (await browser.get(f"/settings/{each}")).status_code == 403, each
    assert (await browser.post("/settings/keys", name="x", role="admin")).status_code == 403
    assert (await browser.post("/settings/secrets", name="x", value="long")).status_code == 403
    assert await house.admin.secrets.list(OWNER) == []


async def test_an_admin_of_a_project_has_no_platform(house):
    await house.admin.members.set(OWNER, "ada", Role.ADMIN)
    browser = await house.login("ada")
    await browser.see("/settings/keys")
    for each in PLATFORM:
        assert (await browser.get(f"/settings/{each}")).status_code == 403, each
    assert (await browser.post("/settings/projects", name="mine")).status_code == 403
    assert (await browser.post("/settings/rewrap")).status_code == 403


async def test_in_a_browser_without_a_word_on_the_console(window, site):
    page = await (await window(site)).open("/settings")
    tabs = page.get_by_role("navigation", name="Settings").get_by_role("link")
    names = await tabs.all_inner_texts()
    assert len(names) == 12
    for name in names:
        await tabs.get_by_text(name, exact=True).click()
        await expect(page.locator(".tabs [aria-current]")).to_have_text(name)


async def test_no_serious_fault_of_access(window, site):
    page = await (await window(site, bypass_csp=True, theme="dark", size=NARROW)).open("/settings")
    found = []
    for each in ["", *(f"/{name}" for name in [*ADMIN, *PLATFORM, "limits", "channels"])]:
        await page.goto(f"{site.url}/settings{each}")
        faults = (await Axe().run(page)).response["violations"]
        found += [
            (each, fault["id"]) for fault in faults if fault["impact"] in {"serious", "critical"}
        ]
        assert await page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
    assert found == []


async def test_retention_of_new_jobs(house, admin):
    old = await house.add("old")
    await done(admin, "/settings/retention", age="10d", count="100", dead="30d")
    page = await admin.see("/settings/limits")
    inputs = {found.get("id"): found.get("value") for _, found in page.tags}
    assert (inputs["age"], inputs["count"], inputs["dead"]) == ("10d", "100", "30d")
    new = await house.add("new")
    own = await house.add("own", retention={"count": 5})
    operations = house.context.operations.jobs
    kept = [(await operations.get(OWNER, id)).job.retention.count for id in (old, new, own)]
    assert kept == [1000, 100, 5]
    wrong = await admin.post("/settings/retention", age="soon", count="1", dead="1d")
    assert wrong.status_code == 422
    assert "retention.set" in (await admin.see("/settings/audit")).text


async def test_calendars_are_saved_renewed_and_deleted(house, admin):
    days = "2026-12-24\n2026-12-28/2026-12-31"
    await done(admin, "/settings/calendars", name="shutdown", days=days)
    await done(admin, "/settings/calendars", name="it-holidays", country="it", days="2026-12-24")
    page = (await admin.see("/settings/calendars")).text
    assert "1 and 1 range" in page
    assert "2026-12-31" in page
    calendars = house.context.operations.calendars
    await done(admin, "/settings/calendars/renew", name="it-holidays")
    renewed = await calendars.get(OWNER, "it-holidays")
    assert (renewed.version, renewed.country, renewed.days_text) == (2, "IT", "2026-12-24")
    assert len(renewed.holidays) > 100
    await done(admin, "/settings/calendars/delete", name="shutdown")
    assert [each.name for each in await calendars.list(OWNER)] == ["it-holidays"]
    wrong = await admin.post("/settings/calendars", name="shutdown", days="Christmas")
    assert wrong.status_code == 422


async def test_who_only_reads_sees_calendars_and_changes_none(house):
    calendars = house.context.operations.calendars
    await calendars.put(OWNER, "shutdown", dates=["2026-12-24"])
    await house.admin.members.set(OWNER, "ada", Role.VIEWER)
    reader = await house.login("ada")
    assert "Renew" not in (await reader.see("/settings/calendars")).text
    assert (await reader.post("/settings/calendars/delete", name="shutdown")).status_code == 403


async def test_a_platform_admin_limits_the_project_that_nobody_made(house, admin):
    limits = {"jobs": 0, "fires_per_day": 0, "fires_per_minute": 0, "requests_per_minute": 0}
    limits |= {"changes_per_minute": 0, "runs_per_minute": 0, "running": 10, "payload": 0}
    path = "/settings/projects/default/limits"
    assert path in (await admin.see("/settings/limits")).forms
    assert (await done(admin, path, **limits)).startswith("/settings/limits")
    assert (await house.admin.limits.get(OWNER)).running == 10
