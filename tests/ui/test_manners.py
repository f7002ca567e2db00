"""What every page does: keys, palette, theme, little weight, and all that without scripts too."""

import re

import httpx
import pytest
from playwright.async_api import expect

from tests.ui.conftest import NARROW
from tests.ui.test_pages import PAGES, path_of

#: Bytes of the first page in all, and requests before it can be read.
HEAVIEST, MOST_REQUESTS = 150_000, 3


async def test_keys_lead_everywhere(page, site):
    await page.keyboard.press("/")
    await expect(page.get_by_role("searchbox", name="Search jobs")).to_be_focused()
    await page.keyboard.press("Escape")
    await page.locator("h1").click()
    await page.keyboard.press("?")
    help = page.get_by_role("dialog", name="Keyboard")
    await expect(help).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(help).to_be_hidden()
    await page.keyboard.press("g")
    await page.keyboard.press("j")
    await expect(page).to_have_url(f"{site.url}/jobs")
    await page.wait_for_load_state()
    await page.keyboard.press("/")
    await expect(page.get_by_label("Filter by name")).to_be_focused()
    await page.locator("h1").click()
    await page.keyboard.press("n")
    await expect(page).to_have_url(f"{site.url}/jobs/new")


async def test_rows_are_walked_marked_and_opened_by_keys(page, site):
    await page.goto(f"{site.url}/jobs?tag=reports")
    rows = page.locator("tbody tr")
    for key in "jjk":
        await page.keyboard.press(key)
    await expect(rows.first).to_have_attribute("data-current", "")
    await page.keyboard.press("x")
    await expect(page.locator("[data-count]")).to_have_text("1 selected")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text("nightly")


async def test_the_palette_finds_pages_and_jobs(page, site):
    await page.keyboard.press("Control+k")
    options = page.get_by_role("option")
    await page.get_by_role("combobox").press_sequentially("dead")
    await expect(options).to_have_text([re.compile("Dead letters")])
    await page.get_by_role("combobox").fill("nightl")
    await expect(options).to_have_text(["nightly"])
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text("nightly")


async def test_the_first_escape_closes_the_palette(page, site):
    await page.keyboard.press("Control+k")
    await page.get_by_role("combobox").fill("nightl")
    await expect(page.get_by_role("option")).to_have_text(["nightly"])
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("combobox")).to_be_hidden()


async def test_the_document_of_a_job_is_not_cut(page, site):
    await page.goto(f"{site.url}/jobs/{site.get('/jobs/nightly')['id']}")
    code = page.get_by_role("group", name="Job document").locator("pre")
    lines = "\n".join(["{", *(f'  "key{n}": {n},' for n in range(40)), "}"])
    await code.evaluate("(pre, text) => { pre.firstChild.textContent = text; }", lines)
    assert await code.evaluate("(pre) => pre.scrollHeight <= pre.clientHeight")


async def test_the_theme_is_chosen_and_comes_with_the_page(window, site):
    visitor = await window(site)
    page = await visitor.open("/")
    for theme, ground in (("light", "#f7f8fa"), ("dark", "#0e1118")):
        await page.get_by_role("button", name="Theme").click()
        await expect(page.locator("html")).to_have_attribute("data-theme", theme)
        await page.wait_for_load_state()
        style = "getComputedStyle(document.body).getPropertyValue('--ground')"
        assert await page.evaluate(style) == ground
    cookies = {each["name"]: each["value"] for each in await visitor.context.cookies()}
    # It is in the first bytes of the page: there is no moment in the other colours.
    assert cookies["theme"] == "dark"
    html = await (await visitor.context.request.get(site.url)).text()
    assert '<html lang="en" data-theme="dark">' in html


async def test_the_menu_opens_where_there_is_no_room(window, site):
    page = await (await window(site, size=NARROW)).open("/")
    pages = page.get_by_role("navigation", name="Pages")
    await expect(pages).to_be_hidden()
    await page.get_by_role("button", name="Menu").click()
    await pages.get_by_role("link", name="Dead letters").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Dead letters")


async def test_without_scripts_the_menu_is_open_where_there_is_no_room(window, site):
    page = await (await window(site, scripts=False, size=NARROW)).open("/")
    await expect(page.get_by_role("button", name="Menu")).to_be_hidden()
    pages = page.get_by_role("navigation", name="Pages")
    await pages.get_by_role("link", name="Dead letters").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Dead letters")


@pytest.mark.parametrize(("path", "now"), [("/timeline", ".now-text"), ("/calendar", ".heat-now")])
async def test_a_picture_wider_than_the_screen_opens_where_now_is(window, site, path, now):
    page = await (await window(site, size=NARROW)).open(path)
    await expect(page.locator(now)).to_be_in_viewport()
    await expect(page.locator(".names")).to_be_in_viewport(ratio=0.3)


async def test_the_first_page_is_light(window, site):
    visitor = await window(site)
    page = await visitor.context.new_page()
    sizes, blocking = {}, []

    async def keep(response):
        sizes[response.url] = int((await response.all_headers()).get("content-length", 0))
        if response.request.resource_type in {"document", "stylesheet"}:
            blocking.append(response.url)

    page.on("response", keep)
    await page.goto(site.url)
    await expect(page.locator("html")).to_be_visible()
    await page.wait_for_function("window.htmx !== undefined && window.Idiomorph !== undefined")
    assert len(blocking) <= MOST_REQUESTS
    assert any("app.css" in url for url in blocking)
    # The stream is silent and never ends; all else has a length.
    assert [url for url, size in sizes.items() if not size and "/live" not in url] == []
    assert sum(sizes.values()) <= HEAVIEST


@pytest.mark.parametrize("address", PAGES)
def test_a_page_is_whole_without_scripts(site, address):
    url, cookies = site.url + path_of(site, address), {"zone": "Europe/Rome"}
    answer = httpx.get(url, cookies=cookies, timeout=100)
    assert answer.status_code == 200
    assert not re.search(r"<script(?![^>]*src=)|\son\w+=|style=", answer.text)


async def test_forms_work_without_scripts(window, site):
    site.add("plain", trigger={"every": "1h"})
    page = await (await window(site, scripts=False)).open("/jobs")
    await page.get_by_label("Filter by name").fill("plain")
    await page.keyboard.press("Enter")
    await expect(page.locator("tbody a.name")).to_have_text(["plain"])
    await page.get_by_role("link", name="plain").click()
    await expect(page.locator("h1")).to_have_text("plain")
    await page.get_by_role("link", name="Edit").click()
    await page.get_by_label("Every", exact=True).last.fill("2h")
    await page.get_by_role("button", name="Save").click()
    await expect(page.locator(".lead")).to_contain_text("Every 2 hours")
    await page.get_by_role("link", name="Pause…").click()
    await page.get_by_label("Reason").fill("no scripts")
    await page.get_by_role("dialog").get_by_role("button", name="Pause").click()
    await expect(page.locator(".banner")).to_contain_text("no scripts")
    await page.get_by_role("button", name="Resume").click()
    await page.goto(f"{site.url}/executions/{site.run('plain').id}")
    await page.get_by_role("button", name="Run again").click()
    await expect(page.locator("h1")).to_have_text("plain")
