"""The API reference: readable by everybody, complete, and usable with a session or a key."""

import pytest
from playwright.async_api import expect

from tests.ui.conftest import NARROW
from tests.ui.house import House
from tests.ui.site import Site
from tests.ui.test_pages import serious
from tickwell.api.openapi import document
from tickwell.declared.internals import internals
from tickwell.services.admin.admin import bootstrap
from tickwell.ui.reference import read_reference


async def test_reference_and_schema_need_no_credentials(house):
    stranger = house.browser()
    page = await stranger.see("/docs")
    assert "Log in" in page.text
    answer = await stranger.get("/api/v1/openapi.json")
    assert (answer.status_code, answer.json()["openapi"]) == (200, "3.1.0")
    assert (await stranger.get("/api/v1/jobs")).status_code == 401


async def test_a_visitor_finds_it_on_every_page_and_sees_their_project(house):
    browser = await house.login()
    assert "/docs" in (await browser.see("/jobs")).links
    page = await browser.see("/docs")
    assert 'data-project="default"' in page.source
    assert "Log out" in page.text


async def test_it_names_every_operation_and_record(house):
    page = await house.browser().see("/docs")
    ids = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
    for methods in document()["paths"].values():
        for operation in methods.values():
            assert f"operation-{operation['operationId']}" in ids
    for name in document()["components"]["schemas"]:
        assert f"record-{name}" in ids
    leads = {
        attributes["href"][1:]
        for tag, attributes in page.tags
        if tag == "a" and attributes.get("href", "").startswith("#")
    }
    assert leads - ids == set()


async def test_below_a_prefix_its_links_stay_below_it(tmp_path):
    async with House(tmp_path, trusted_proxies=("127.0.0.1",)) as house:
        headers = {"x-forwarded-prefix": "/tick", "x-forwarded-for": "1.2.3.4"}
        page = await house.browser().get("/docs", headers=headers)
        assert 'href="/tick/api/v1/openapi.json"' in page.text
        assert 'data-root="/tick"' in page.text


def test_a_curl_command_has_what_its_operation_needs():
    entries = {
        each.id: each for topic in read_reference(document()).topics.values() for each in topic
    }
    replace = entries["replace_job"].curl
    assert replace.startswith('curl -X PUT "$TICKWELL_SERVER/api/v1/jobs/$key"')
    assert "-H 'If-Match: \"1\"'" in replace
    assert '-H "Authorization: Bearer $TICKWELL_KEY"' in replace
    assert "Authorization" not in entries["health"].curl
    assert entries["preview_cron"].curl.count("?expr=EXPR") == 1
    assert not entries["stream_events"].ends


async def test_search_and_requests_in_a_browser(window, site):
    page = await (await window(site)).open("/docs")
    await page.get_by_label("Search operations and records").fill("post trigger job")
    await expect(page.locator("[data-reference-count]")).to_have_text("2 found")
    await expect(page.locator("summary", has_text="/api/v1/workers/{id}")).to_be_hidden()
    await page.get_by_label("Search operations and records").fill("/jobs/{key}")
    await page.locator("summary", has_text="Get job").first.click()
    form = page.get_by_role("form", name="Try Get job", exact=True)
    await form.get_by_label("key").fill("nightly")
    await form.get_by_role("button", name="Send request").click()
    await expect(form.locator("[data-reference-answer] p")).to_have_text("200 OK")
    await expect(form.locator("[data-reference-answer] code")).to_contain_text('"name": "nightly"')
    await page.get_by_label("Search operations and records").fill("")
    await page.locator("#operation-get_job").get_by_role("link", name="Job", exact=True).click()
    await expect(page.locator("#record-Job")).to_be_visible()
    assert await serious(page, "light") == []
    await page.emulate_media(color_scheme="dark")
    assert await serious(page, "dark") == []
    await page.set_viewport_size(NARROW)
    assert await page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]


@pytest.fixture(scope="module")
def asking(tmp_path_factory):
    with Site(tmp_path_factory.mktemp("asking"), auth=True) as found:
        yield found


async def test_requests_with_a_key_and_with_a_session(asking, window):
    made = asking.call(bootstrap(asking.context.admin, internals(asking.scheduler).clock))
    visitor = await window(asking)
    visitor.allowed += ["401 (Unauthorized"]
    page = await visitor.open("/docs")
    await page.locator("summary", has_text="List jobs").first.click()
    form = page.get_by_role("form", name="Try List jobs", exact=True)
    status = form.locator("[data-reference-answer] p")
    await form.get_by_role("button", name="Send request").click()
    await expect(status).to_have_text("401 Unauthorized")
    await page.get_by_label("API key for Send request").fill(made.key)
    await form.get_by_role("button", name="Send request").click()
    await expect(status).to_have_text("200 OK")
    assert await serious(page, "light") == []
    await page.goto(f"{asking.url}/login?link={made.link_token}&next=/docs")
    await page.get_by_role("button", name="Log in").click()
    await expect(page).to_have_title("API reference · Tickwell")
    await (
        page.locator("summary", has_text="Create calendar")
        .or_(page.locator("summary", has_text="Put calendar"))
        .first.click()
    )
    form = page.get_by_role("form", name="Try Put calendar", exact=True)
    await form.get_by_label("name").fill("mine")
    await form.get_by_role("button", name="Send request").click()
    await expect(form.locator("[data-reference-answer] p")).to_have_text("200 OK")
