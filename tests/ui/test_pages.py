"""Every page of a service with all kinds of jobs: wide and narrow, light and dark."""

import re

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import expect

from tests.ui.conftest import NARROW, WIDE
from tests.ui.seeds import LONG

#: A page, and what it says there.
PAGES = {
    "/": "Jobs that need attention",
    "/timeline": "Timeline",
    "/timeline?span=7d": "Timeline",
    "/calendar": "Calendar",
    "/calendar?length=week&first=2026-10-19": "the clock in Europe/Rome goes back by 1 h",
    "/jobs": "nightly",
    "/jobs?tag=reports": "payday",
    "/jobs/new": "New job",
    "/jobs/{nightly}": "Europe/Berlin",
    "/jobs/{nightly}/edit": "Edit nightly",
    "/jobs/{nightly}/versions": "nightly",
    "/jobs/{heartbeat}/slots": "Slots of heartbeat",
    "/executions": "succeeded",
    "/executions/{worked}": "Details",
    "/executions/{called}": "As curl",
    "/executions/{stumbled}": "Error of attempt 3",
    "/executions/{dead}": "Repeat with payload",
    "/executions/{held}": "Cancel",
    "/dead": "permanently failed",
    "/charts": "Metrics",
    "/charts?span=24h": "Metrics",
    "/charts?span=7d&job={nightly}": "Metrics",
    "/workers": "Workers and queues",
}


#: Tests that share the pages among them: none takes long.
PARTS = 4
#: The ground of a page by theme.
GROUNDS = {"light": "#f7f8fa", "dark": "#0e1118"}
GROUND = "getComputedStyle(document.body).getPropertyValue('--ground')"


def path_of(site, page):
    return page.format(**site.ids, **{name: id for name, id in site.jobs.items() if name != LONG})


@pytest.mark.parametrize("part", range(PARTS))
async def test_every_page_in_both_colours_and_widths_and_for_everybody(window, site, part):
    page = await (await window(site)).open("/")  # from here on the server knows the zone
    found = []
    for each, said in list(PAGES.items())[part::PARTS]:
        await page.goto(site.url + path_of(site, each))
        await expect(page.locator("main")).to_contain_text(said)
        await expect(page).to_have_title(re.compile(". · Tickwell$"))
        for theme, ground in GROUNDS.items():
            await page.emulate_media(color_scheme=theme)
            assert (each, await page.evaluate(GROUND)) == (each, ground)
            found += [(each, theme, *fault) for fault in await serious(page, theme)]
        for size in (NARROW, WIDE):
            await page.set_viewport_size(size)
            width = await page.evaluate("document.documentElement.scrollWidth")
            assert (each, width) == (each, size["width"])
    assert found == []


async def serious(page, theme):
    """What axe holds to be serious or worse: the rule and where it is broken."""
    options = {"resultTypes": ["violations"]}
    if theme == "light":
        answer = await Axe().run(page, options=options)
    else:  # only colours differ, and the page has the script already
        answer = await Axe("").run(page, options=options | {"runOnly": ["color-contrast"]})
    return [
        (fault["id"], node["html"][:150])
        for fault in answer.response["violations"]
        for node in fault["nodes"]
        if fault["impact"] in {"serious", "critical"}
    ]
