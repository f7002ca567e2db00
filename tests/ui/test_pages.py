"""Every page of a service with all kinds of jobs: wide and narrow, light and dark."""

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import expect

from tests.ui.conftest import NARROW, WIDE
from tests.ui.seeds import LONG

#: A page, and what it says there.
PAGES = {
    "/": "Needs attention",
    "/timeline": "Timeline",
    "/timeline?span=7d": "Timeline",
    "/calendar": "Calendar",
    "/calendar?length=week&first=2026-10-19": "the clock in Europe/Rome changes",
    "/jobs": "nightly",
    "/jobs?tag=reports": "payday",
    "/jobs/new": "New job",
    "/jobs/{nightly}": "Europe/Berlin",
    "/jobs/{nightly}/edit": "Edit nightly",
    "/jobs/{heartbeat}/slots": "Slots of heartbeat",
    "/executions": "succeeded",
    "/executions/{worked}": "Facts",
    "/executions/{called}": "As curl",
    "/executions/{stumbled}": "Error of attempt 3",
    "/executions/{dead}": "With another payload",
    "/executions/{held}": "Cancel",
    "/dead": "out of attempts",
    "/workers": "Workers and queues",
}


#: The ground of a page by theme.
GROUNDS = {"light": "#f7f8fa", "dark": "#0e1118"}


def path_of(site, page):
    return page.format(**site.ids, **{name: id for name, id in site.jobs.items() if name != LONG})


async def test_every_page_says_what_it_is_for(window, site):
    page = await (await window(site)).open("/")  # from here on the server knows the zone
    for each, said in PAGES.items():
        await page.goto(site.url + path_of(site, each))
        await expect(page.locator("main")).to_contain_text(said)
        for theme, ground in GROUNDS.items():
            await page.emulate_media(color_scheme=theme)
            style = "getComputedStyle(document.body).getPropertyValue('--ground')"
            assert (each, await page.evaluate(style)) == (each, ground)
        for size in (NARROW, WIDE):
            await page.set_viewport_size(size)
            width = await page.evaluate("document.documentElement.scrollWidth")
            assert (each, width) == (each, size["width"])


@pytest.mark.parametrize("theme", GROUNDS)
async def test_no_page_has_a_serious_fault_of_accessibility(window, site, theme):
    page = await (await window(site, theme=theme)).open("/")
    found = []
    for each in PAGES:
        await page.goto(site.url + path_of(site, each))
        faults = (await Axe().run(page)).response["violations"]
        found += [
            (each, fault["id"], node["html"][:150])
            for fault in faults
            if fault["impact"] in {"serious", "critical"}
            for node in fault["nodes"]
        ]
    assert found == []
