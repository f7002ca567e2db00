"""The dashboard below another path: mounted by an application, or behind a proxy."""

import re

from playwright.async_api import expect
from starlette.applications import Starlette
from starlette.routing import Mount

from tests.ui.house import HOST, Browser, House
from tests.ui.site import Site, lively
from tests.ui.test_reach import crawl, furnish

PREFIX = "/ops/tick"
ADDRESSES = ("href", "src", "action", "formaction", "hx-get", "hx-post")


async def test_every_address_is_below_the_prefix(house):
    await furnish(house)
    browser = Browser(Starlette(routes=[Mount(PREFIX, house.app)]), f"http://{HOST}")
    house.browsers.append(browser)
    stranger = await browser.get(f"{PREFIX}/jobs")
    assert stranger.headers["location"] == f"{PREFIX}/login?next=/jobs"
    link = await house.link("local")
    answer = await browser.post(f"{PREFIX}/login", link=link, next="/jobs")
    assert answer.headers["location"] == f"{PREFIX}/jobs"
    found = await crawl(browser, PREFIX)
    assert len(found) > 30
    addresses = {
        value
        for page in found.values()
        for _, attributes in page.tags
        for name, value in attributes.items()
        if name in ADDRESSES and value
    }
    assert [each for each in addresses if not re.match(rf"{PREFIX}/|#|https?://", each)] == []
    referer = f"http://{HOST}{PREFIX}/jobs?q=a"
    changed = await browser.post(
        f"{PREFIX}/preferences/theme", theme="dark", headers={"referer": referer}
    )
    assert changed.headers["location"] == f"{PREFIX}/jobs?q=a"
    made = await browser.post(f"{PREFIX}/settings/users/link", name="local")
    assert f"http://{HOST}{PREFIX}/login?link=" in made.text


async def test_a_proxy_that_is_trusted_says_where_it_has_us(tmp_path):
    said = {"x-forwarded-prefix": PREFIX}
    async with House(tmp_path, auth=False, host=HOST, trusted_proxies=("127.0.0.0/8",)) as house:
        page = (await house.browser().get("/jobs", headers=said)).text
        assert f'href="{PREFIX}/timeline"' in page
        assert f'href="{PREFIX}/jobs" aria-current="page"' in page
        for bad in ("//evil.example", "/a/../b", "/a b", "a", "/"):
            page = (await house.browser().get("/jobs", headers={"x-forwarded-prefix": bad})).text
            assert 'href="/timeline"' in page
    async with House(tmp_path, auth=False, host=HOST) as house:
        assert 'href="/timeline"' in (await house.browser().get("/jobs", headers=said)).text


async def test_keys_palette_stream_and_forms_work_there_too(window, tmp_path):
    with Site(tmp_path, declare=lively, prefix=PREFIX) as site:
        site.add("nightly", trigger={"cron": "30 2 * * *"})
        page = await (await window(site)).open("/")
        await page.keyboard.press("g")
        await page.keyboard.press("j")
        await expect(page).to_have_url(f"{site.url}/jobs")
        site.post("/jobs/nightly/pause")
        await expect(page.locator("tr", has_text="nightly").locator(".badge")).to_have_text(
            "paused"
        )
        await page.get_by_label("Select nightly").check()
        await page.get_by_role("button", name="Resume").click()
        await page.get_by_role("button", name="Undo").click()
        await expect(page.locator(".toast")).to_have_text(re.compile("1 job restored"))
        await page.wait_for_load_state()
        await page.keyboard.press("Control+k")
        await page.get_by_role("combobox").fill("nightl")
        await expect(page.get_by_role("option")).to_have_text(["nightly"])
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", level=1)).to_have_text("nightly")
