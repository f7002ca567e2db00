"""Maintenance windows on their page, and what other pages say of one that is on."""

import pytest
from playwright.async_api import expect

from tests.ui.house import OWNER, House
from tickwell.domain.policy import HOUR
from tickwell.services.access.actor import Role
from tickwell.services.projects.maintenance import Schedule
from tickwell.services.time import After


@pytest.fixture
async def house(tmp_path):
    async with House(tmp_path) as house:
        yield house


def text_of(page):
    return " ".join(page.text.split())


async def windows(house):
    return await house.context.operations.maintenance.list(OWNER)


async def test_one_is_added_shown_everywhere_ended_and_deleted(house):
    job = await house.add("report", trigger={"every": "1h"})
    browser = await house.login()
    assert "No maintenance windows" in text_of(await browser.see("/maintenance"))
    await browser.post("/maintenance", name="move", length="90m", why="new <disks>")
    page = await browser.see("/maintenance")
    assert {"/maintenance/move/end", "/maintenance/move/delete"} <= page.forms
    for path in ("/maintenance", "/", f"/jobs/{job}"):
        assert "new <disks>" in text_of(await browser.see(path)), path
    assert "fire times are skipped" in text_of(await browser.see(f"/jobs/{job}"))
    await browser.post("/maintenance/move/end")
    [ended] = await windows(house)
    assert ended.state == "over"
    assert "fire times are skipped" not in text_of(await browser.see("/"))
    await browser.post("/maintenance/move/delete")
    assert await windows(house) == []


async def test_one_that_recurs_covers_jobs_by_tag_and_queue(house):
    one = await house.add("report", trigger={"every": "1h"}, tags=["db"], queue="slow")
    other = await house.add("mail", trigger={"every": "1h"})
    browser = await house.login()
    await browser.see("/maintenance")
    fields = {"schedule": "0 2 * * sun", "tz": "Europe/Rome", "tags": "db, x", "queues": "slow"}
    await browser.post("/maintenance", name="weekly", length="2h", everything="true", **fields)
    [found] = await windows(house)
    assert (found.window.project, found.window.tags, found.window.queues) == (
        "*",
        ("db", "x"),
        ("slow",),
    )
    page = await browser.see("/maintenance")
    assert "all projects" in text_of(page)
    assert "/platform/maintenance/weekly/delete" in page.forms
    assert "weekly" in text_of(await browser.see(f"/jobs/{one}"))
    assert "weekly" not in text_of(await browser.see(f"/jobs/{other}"))
    await browser.post("/platform/maintenance/weekly/delete")
    assert await windows(house) == []


async def test_a_start_is_read_on_the_visitors_clock_and_a_mistake_is_named(house):
    browser = await house.login()
    await browser.see("/maintenance")
    await browser.post("/maintenance", name="later", length="2h", start="2036-01-01T09:00")
    [found] = await windows(house)
    assert found.state == "planned"
    answer = await browser.post("/maintenance", name="two words", length="2h")
    assert answer.status_code == 422
    answer = await browser.post("/maintenance", name="x", length="2h", start="tomorrow")
    assert answer.status_code == 422


async def test_a_viewer_reads_of_it_and_has_no_button(house):
    await house.admin.users.create(OWNER, "vic")
    await house.admin.members.set(OWNER, "vic", Role.VIEWER)
    operations = house.context.operations.maintenance
    await operations.put(OWNER, "move", Schedule(length=HOUR), why="new disks")
    browser = await house.login("vic")
    page = await browser.see("/maintenance")
    assert "new disks" in page.text
    assert not {form for form in page.forms if "/maintenance" in form}
    assert (await browser.post("/maintenance/move/end")).status_code == 403


async def test_fires_to_come_in_one_are_marked_where_they_are_listed(house):
    job = await house.add("report", trigger={"every": "1h"})
    operations = house.context.operations.maintenance
    await operations.put(OWNER, "move", Schedule(start=After(HOUR), length=2 * HOUR))
    browser = await house.login()
    answer = await browser.get(f"/jobs/{job}")
    assert answer.text.count("</svg>maintenance</span>") == 2


async def test_a_person_adds_one_and_ends_it(page, site):
    await page.goto(f"{site.url}/alerts")
    await page.get_by_role("link", name="Maintenance").first.click()
    await page.get_by_label("Name").fill("database-move")
    await page.get_by_label("Length").fill("2h")
    await page.get_by_label("Tags").fill("disks")  # which no job of the site has
    await page.get_by_label("Reason").fill("we move the database")
    await page.get_by_role("button", name="Save").click()
    await expect(page.locator(".toast")).to_have_text("Saved database-move")
    await page.goto(f"{site.url}/")
    banner = page.locator("[data-maintenance=database-move]")
    await expect(banner).to_contain_text("we move the database")
    await banner.get_by_role("link").click()
    await page.get_by_role("button", name="End").click()
    await expect(page.locator(".toast")).to_have_text("Ended database-move")
    await expect(page.locator("#maintenance")).to_contain_text("over")
    page.on("dialog", lambda dialog: dialog.accept())
    await page.get_by_role("button", name="Delete").click()
    await expect(page.locator(".toast")).to_have_text("Deleted database-move")
    await expect(page.locator("#maintenance")).to_contain_text("No maintenance windows")
