"""The overview says that the project is paused, by whom and why, with a button to resume it."""

import pytest
from playwright.async_api import expect

from tests.ui.house import OWNER, House
from tickwell.services.access.actor import Role
from tickwell.services.time import After


@pytest.fixture
async def house(tmp_path):
    async with House(tmp_path) as house:
        await house.add("report", trigger={"every": "1h"})
        yield house


async def state(house):
    [entry] = await house.store.get_jobs("default", ["report"])
    return entry.cursor.state


async def test_it_is_paused_with_a_reason_and_resumed_on_the_overview(house):
    browser = await house.login()
    assert "/project/pause" in (await browser.see("/")).forms
    answer = await browser.post("/project/pause", why="we <move>", how_long="2h")
    assert answer.headers["location"].startswith("/")
    page = await browser.see("/")
    assert "This project is paused by local" in page.text
    assert "we <move>" in page.text
    assert "/project/resume" in page.forms
    assert "project default is paused" not in page.text  # said once
    assert await state(house) == "paused"
    await browser.post("/project/resume")
    assert "This project is paused" not in (await browser.see("/")).text
    assert await state(house) == "active"


async def test_the_page_of_a_job_says_that_its_project_is_paused(house):
    browser = await house.login()
    await house.context.operations.pauses.pause(OWNER, why="moving")
    [entry] = await house.store.get_jobs("default", ["report"])
    page = await browser.see(f"/jobs/{entry.job.id}")
    assert "The project is paused by" in " ".join(page.text.split())
    assert f"/jobs/{entry.job.id}/resume" not in page.forms


async def test_all_projects_are_paused_beside_the_queues(house):
    browser = await house.login()
    await browser.see("/workers")
    await browser.post("/platform/pause", why="fire")
    for path in ("/workers", "/"):
        page = await browser.see(path)
        assert "All projects are paused by local" in page.text
        assert "/platform/resume" in page.forms
    await browser.post("/platform/resume")
    assert await state(house) == "active"


async def test_a_viewer_reads_of_it_and_has_no_button(house):
    await house.admin.users.create(OWNER, "vic")
    await house.admin.members.set(OWNER, "vic", Role.VIEWER)
    await house.context.operations.pauses.pause(OWNER, why="moving", until=After(3_600_000))
    browser = await house.login("vic")
    page = await browser.see("/")
    assert "This project is paused by" in page.text
    assert not {form for form in page.forms if "/project/" in form}
    assert (await browser.post("/project/resume")).status_code == 403


async def test_a_dialog_pauses_it_and_the_banner_goes_with_a_click(page, site):
    site.add("hourly", trigger={"every": "1h"})
    await page.goto(f"{site.url}/")
    await page.get_by_role("link", name="Pause project").click()
    dialog = page.get_by_role("dialog", name="Pause all jobs of default")
    await dialog.get_by_label("Reason").fill("we move the database")
    await dialog.get_by_label("Duration").fill("2h")
    await dialog.get_by_role("button", name="Pause").click()
    await expect(page.locator("[data-paused=project]")).to_contain_text("we move the database")
    await page.get_by_role("button", name="Resume").click()
    await expect(page.locator(".toast")).to_have_text("Resumed project default")
    await expect(page.locator("[data-paused]")).to_have_count(0)
