"""Makes the pictures in docs/images from the demo: `python -m scripts.screenshots`.

Needs Chromium, as the tests do: TICKWELL_TEST_CHROMIUM, else Debian's.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, expect, sync_playwright

from tests.servers.chromium import chromium

FOLDER = Path(__file__).parent.parent / "docs" / "images"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"]
#: Bytes of the largest picture.
LARGEST = 165_000


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture: which page, how wide, in which colours."""

    name: str
    path: str
    theme: str = "light"
    width: int = 1280
    height: int = 860


SHOTS = (
    Shot("overview", "/"),
    Shot("overview-dark", "/", theme="dark"),
    Shot("overview-phone", "/", width=360, height=740),
    Shot("timeline", "/timeline"),
    Shot("metrics", "/charts?span=24h", height=1020),
    Shot("calendar", "/calendar", height=980),
    Shot("jobs", "/jobs", height=800),
    Shot("job", "/jobs/export-to-warehouse"),
    Shot("editor", "/jobs/nightly-revenue/edit", height=980),
    Shot("slots", "/jobs/export-to-warehouse/slots"),
    Shot("execution", "/executions?state=dead&job=export-to-warehouse"),
    Shot("dead-letters", "/dead"),
    Shot("dead-letters-dark", "/dead", theme="dark"),
)


def main() -> int:
    """All of them, again."""
    FOLDER.mkdir(exist_ok=True)
    with _demo() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        for shot in SHOTS:
            _take(browser, address, shot)
        browser.close()
    heavy = [each.name for each in FOLDER.glob("*.png") if each.stat().st_size > LARGEST]
    if heavy:
        print(f"over {LARGEST:,} bytes: {', '.join(sorted(heavy))}", file=sys.stderr)
    return 1 if heavy else 0


@contextmanager
def _demo() -> Iterator[str]:
    """The demo on a free port, until it is left."""
    command = [sys.executable, "-m", "tickwell", "demo", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as child:
        said = child.stderr or ()
        try:
            found = next(filter(None, (re.search(r"http://[\d.:]+", line) for line in said)))
            yield found[0]
        finally:
            child.terminate()
            for _ in said:
                pass  # a full pipe would keep it from ending


def _take(browser: Browser, address: str, shot: Shot) -> None:
    context = browser.new_context(
        viewport={"width": shot.width, "height": shot.height},
        color_scheme="dark" if shot.theme == "dark" else "light",
        timezone_id="Europe/Rome",
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(address)  # tells the server the visitor's zone
    page.goto(address + shot.path)
    if shot.name == "execution":
        page.locator("tbody tr a").first.click()
        expect(page.get_by_role("heading", name="Attempts")).to_be_visible()
    page.screenshot(path=FOLDER / f"{shot.name}.png")
    context.close()


if __name__ == "__main__":
    sys.exit(main())
