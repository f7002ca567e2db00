"""Debian's Chromium before a real service. An error in a page's console fails the test."""

from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import async_playwright, expect

from tests.servers.chromium import chromium
from tests.ui.house import House
from tests.ui.seeds import seed
from tests.ui.site import Site, lively

#: Playwright's own, which the flag below replaces; then the pages that Chromium builds for the
#: address bar of every window, 1.5 s of processor time each.
OFF = [
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    "MediaRouter",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
    "AiModeOmniboxEntryPoint",
]
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--disable-features={','.join(OFF)}",
]
WIDE, NARROW = {"width": 1280, "height": 800}, {"width": 360, "height": 740}

#: Milliseconds in which a page follows on the slowest machine.
PATIENCE = 60_000
#: What goes away by itself, a sentence or the first of two keys, stays until somebody has seen it.
STAYS = """(() => {
    const real = window.setTimeout;
    window.setTimeout = (work, wait, ...rest) =>
        real(work, wait === 1500 || wait >= 4000 ? 600000 : wait, ...rest);
})();"""

expect.set_options(timeout=PATIENCE)


def pytest_collection_modifyitems(items):
    """One browser for all, so one loop for all that use it."""
    for item in items:
        # Of this folder only: hooks see the tests of all folders.
        is_ours = item.path.is_relative_to(Path(__file__).parent)
        if is_ours and "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


class Window:
    """A browser window on a site, and whatever its console said."""

    def __init__(self, context, site):
        self.context, self.site = context, site
        self.said = []
        #: Parts of what a console may say in this test: always that a new page cut a request off.
        self.allowed = ["htmx:afterRequest", "htmx:sendAbort"]

    async def open(self, path="/"):
        page = await self.context.new_page()
        page.on("console", lambda message: self._hear(message.type, message.text))
        page.on("pageerror", lambda error: self._hear("error", str(error)))
        await page.goto(self.site.url + path)
        return page

    def _hear(self, kind, text):
        if kind in {"error", "warning"}:
            self.said.append(text)

    def faults(self):
        return [text for text in self.said if not any(allowed in text for allowed in self.allowed)]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser():
    path = chromium()
    async with async_playwright() as playwright:
        found = await playwright.chromium.launch(executable_path=path, args=FLAGS, timeout=PATIENCE)
        yield found
        await found.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """Jobs of every kind, with real executions of every state."""
    with Site(tmp_path_factory.mktemp("site"), declare=lively) as found:
        seed(found)
        yield found


@pytest_asyncio.fixture(loop_scope="session")
async def window(browser):
    """Makes windows on a site; all are looked at in the end."""
    made = []

    async def make(site, *, bypass_csp=False, scripts=True, theme="light", size=None):
        context = await browser.new_context(
            viewport=size or WIDE,
            color_scheme=theme,
            bypass_csp=bypass_csp,
            java_script_enabled=scripts,
            timezone_id="Europe/Rome",
        )
        context.set_default_timeout(PATIENCE)
        await context.add_init_script(STAYS)
        made.append(Window(context, site))
        return made[-1]

    yield make
    faults = [fault for each in made for fault in each.faults()]
    for each in made:
        await each.context.close()
    assert faults == []


@pytest_asyncio.fixture(loop_scope="session")
async def page(window, site):
    """The overview of the site in a wide, light window."""
    return await (await window(site)).open()


@pytest.fixture
async def house(tmp_path):
    """A service that asks who one is, without browser and network."""
    async with House(tmp_path) as found:
        yield found
