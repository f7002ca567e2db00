"""Sessions of the dashboard: begun, kept apart from keys, ended; and forms of other sites."""

import pytest
from playwright.async_api import expect

from tests.ui.house import HOST, OWNER, House
from tests.ui.site import Site
from tickwell.declared.internals import internals
from tickwell.services.access.actor import Role
from tickwell.services.admin.admin import bootstrap
from tickwell.ui.app import pages

PASSWORD = "a few words of my own"
JOB = {"trigger": {"on_demand": True}, "target": {"call": {"handler": "x"}}}


async def test_the_link_of_the_first_start_leads_in_by_one_click(house):
    browser = house.browser()
    page = await browser.see(f"/login?link={house.first.link_token}")
    assert page.forms == {"/login"}
    answer = await browser.post("/login", link=house.first.link_token)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert "Overview" in (await browser.see("/")).text


async def test_where_nobody_is_asked_there_is_nothing_to_log_in_to(tmp_path):
    async with House(tmp_path, auth=False, host=HOST) as house:
        browser = house.browser()
        assert "Log out" not in (await browser.see("/")).text
        assert (await browser.get("/login")).headers["location"] == "/"


async def test_where_nobody_is_asked_every_project_can_be_chosen(tmp_path):
    async with House(tmp_path, auth=False, host=HOST) as house:
        browser = house.browser()
        await browser.http.post("/api/v1/jobs", json=JOB | {"name": "of-default"})
        assert "/preferences/project" not in (await browser.see("/")).forms
        await browser.http.post("/api/v1/projects", json={"name": "team-b"})
        assert "/preferences/project" in (await browser.see("/")).forms
        await browser.post("/preferences/project", project="team-b")
        page = await browser.see("/jobs")
        assert ("team-b" in page.text, "of-default" in page.text) == (True, False)
        assert "/hook --project team-b" in page.text
        unknown = await browser.post("/preferences/project", project="team-c")
        assert unknown.status_code == 404
        browser.http.cookies.set("project", "deleted-since", domain=HOST)
        assert "of-default" in (await browser.see("/jobs")).text


async def test_of_very_many_projects_a_page_offers_a_hundred_and_the_way_to_the_rest(tmp_path):
    async with House(tmp_path, auth=False, host=HOST) as house:
        for number in range(100):
            await house.admin.projects.ensure(f"team-{number:03}", by="test")
        browser = house.browser()
        page = await browser.see("/jobs")
        assert page.text.count("All 101 projects") == 1
        assert ("team-098" in page.text, "team-099" in page.text) == (True, False)
        assert "Switch to it" in (await browser.see("/settings/projects/team-099")).text
        await browser.post("/preferences/project", project="team-099")
        assert "/hook --project team-099" in (await browser.see("/jobs")).text


@pytest.mark.parametrize(("scheme", "name"), [("http", "tickwell"), ("https", "__Host-tickwell")])
async def test_the_cookie(house, scheme, name):
    browser = house.browser(scheme)
    link = await house.link("local")
    answer = await browser.post("/login", link=link)
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"{name}=")
    parts = {part.strip().lower() for part in cookie.split(";")[1:]}
    assert {"httponly", "samesite=lax", "path=/"} <= parts
    assert ("secure" in parts) == (scheme == "https")
    assert not any(part.startswith("domain") for part in parts)


async def test_an_id_from_before_the_login_is_worth_nothing_after_it(house):
    browser = house.browser()
    browser.http.cookies.set("tickwell", "chosen-by-somebody-else", domain=HOST)
    link = await house.link("local")
    await browser.post("/login", link=link)
    assert "chosen-by-somebody-else" not in browser.http.cookies.values()
    first = browser.http.cookies["tickwell"]
    await browser.get("/")
    await browser.post("/login", link=await house.link("local"))
    assert browser.http.cookies["tickwell"] != first
    thief = house.browser()
    thief.http.cookies.set("tickwell", first, domain=HOST)
    assert (await thief.get("/")).status_code == 303


async def test_logging_out_ends_the_session_itself(house):
    browser = await house.login()
    await browser.get("/")
    id = browser.http.cookies["tickwell"]
    answer = await browser.post("/logout")
    assert answer.headers["location"] == "/login"
    assert "tickwell" not in browser.http.cookies
    thief = house.browser()
    thief.http.cookies.set("tickwell", id, domain=HOST)
    assert (await thief.get("/")).status_code == 303


async def test_whoever_lost_every_right_can_still_log_out(house):
    await house.admin.users.create(OWNER, "ada")
    await house.admin.members.set(OWNER, "ada", Role.VIEWER)
    browser = await house.login("ada")
    await browser.get("/")
    await house.admin.members.remove(OWNER, "ada")
    assert (await browser.get("/jobs")).status_code == 403
    assert (await browser.get("/", follow_redirects=True)).status_code == 403
    assert (await browser.post("/logout")).status_code == 303


async def test_an_admin_of_the_platform_needs_no_project(house):
    await house.admin.users.create(OWNER, "root", platform=True)
    browser = await house.login("root")
    answer = await browser.get("/", follow_redirects=True)
    assert (answer.status_code, answer.url.path) == (200, "/settings/projects")
    assert (await browser.get("/settings/keys")).status_code == 403


async def test_over_tls_browsers_come_by_nothing_else(house):
    plain, safe = house.browser("http"), house.browser("https")
    assert "strict-transport-security" not in (await plain.get("/login")).headers
    for path in ("/login", "/api/v1/jobs"):
        header = (await safe.get(path)).headers["strict-transport-security"]
        assert header == "max-age=31536000"


async def test_pages_never_read_keys_and_keys_never_cookies(house):
    key = {"authorization": f"Bearer {house.first.key}"}
    assert (await house.browser().get("/", headers=key)).status_code == 303
    browser = await house.login()
    wrong = {"authorization": "Bearer tw_0123456789abcdef_" + "A" * 43}
    assert (await browser.get("/api/v1/jobs", headers=wrong)).status_code == 401
    assert (await browser.get("/api/v1/jobs")).status_code == 200


async def test_no_change_without_the_token_or_from_elsewhere(house):
    """Every form, but for the one that asks who it is: it has no session to protect."""
    browser = await house.login()
    await browser.get("/")
    token = browser.token
    foreign = (
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    )
    tried = 0
    for path in _forms():
        for headers in foreign:
            assert (await browser.post(path, headers)).status_code == 401, (path, headers)
        for wrong in ("", token[:-1], token.upper(), "0" * 64):
            browser.token = wrong
            assert (await browser.post(path)).status_code == 401, path
        browser.token = token
        tried += 1
    assert tried == 69
    link = await house.link("local")
    assert (await browser.post("/login", foreign[0], link=link)).status_code == 401


def _forms():
    changing = [each.path for each in pages() if "POST" in (each.methods or ())]
    return [path.replace("{version}", "1") for path in changing if path != "/login"]


async def test_a_password_of_one_s_own_ends_every_session(house):
    browser, other = await house.login(), await house.login()
    await browser.get("/settings")
    answer = await browser.post("/settings/password", new=PASSWORD)
    assert answer.headers["location"].startswith("/login")
    for each in (browser, other):
        assert (await each.get("/")).status_code == 303
    again = house.browser()
    assert (await again.post("/login", name="local", password="wrong")).status_code == 401
    answer = await again.post("/login", name="Local", password=PASSWORD, next="/jobs")
    assert answer.headers["location"] == "/jobs"


async def test_a_project_is_chosen_among_one_s_own(house):
    for name in ("acme", "other"):
        await house.admin.projects.create(OWNER, name, admin="ada")
    browser = await house.login("ada")
    page = await browser.see("/")
    assert "/preferences/project" in page.forms
    assert 'title="Project">acme<' in page.source
    answer = await browser.post("/preferences/project", project="other")
    assert answer.headers["location"] == "/"
    assert 'title="Project">other<' in (await browser.see("/")).source
    assert (await browser.post("/preferences/project", project="default")).status_code == 404
    browser.http.cookies.set("project", "default", domain=HOST)
    assert 'title="Project">acme<' in (await browser.see("/")).source


@pytest.fixture(scope="module")
def asking(tmp_path_factory):
    """A real service that asks who one is; it goes when the browser's windows have gone."""
    with Site(tmp_path_factory.mktemp("asking"), auth=True) as found:
        yield found


async def test_a_real_browser_logs_in_by_link_and_out(asking, window):
    """What it says of origin and site depends on the page's own headers."""
    made = asking.call(bootstrap(asking.context.admin, internals(asking.scheduler).clock))
    visitor = await window(asking)
    visitor.allowed += ["401 (Unauthorized", "Error Code 401"]
    page = await visitor.open(f"/login?link={made.link_token}")
    await page.get_by_role("button", name="Log in").click()
    await expect(page).to_have_title("Overview · Tickwell")
    await page.goto(f"{asking.url}/jobs")
    await page.get_by_role("button", name="Theme: system").click()
    await expect(page).to_have_url(f"{asking.url}/jobs")
    other = await visitor.open("/jobs/new")
    watching = await visitor.open("/jobs")
    await page.get_by_role("button", name="Log out").click()
    await expect(page).to_have_title("Log in · Tickwell")
    # Pages that are open elsewhere say so: they are of a session that is no more.
    await other.get_by_label("Name", exact=True).fill("typed")
    await expect(other.locator(".toast").first).to_contain_text("You are logged out. Copy your")
    await watching.evaluate("htmx.trigger(document.querySelector('[data-part]'), 'changed')")
    sign = watching.locator("[data-live]")
    await expect(sign).to_have_text("Logged out. Reload this page.")
    # Back from another tab it asks for its stream anew, which is refused; it goes on saying why.
    await watching.evaluate("document.querySelector('[data-live]').textContent = ''")
    await watching.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    await expect(sign).to_have_text("Logged out. Reload this page.")
