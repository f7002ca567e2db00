"""Missed fires that are held: banners, the page that lists them, and the decision."""

import pytest

from tests.ui.house import OWNER, House
from tickwell.services.access.actor import Role


@pytest.fixture
async def house(tmp_path):
    async with House(tmp_path) as house:
        for name in ("report", "other"):
            await house.hold(await house.add(name, trigger={"every": "1m"}), runs=10)
        yield house


async def backlog(house, name):
    [entry] = await house.store.get_jobs("default", [name])
    return entry.cursor.backlog


def words(page):
    return " ".join(page.text.split())


async def test_the_overview_leads_to_the_page_that_lists_them(house):
    browser = await house.login()
    page = await browser.see("/")
    assert "20 missed runs of 2 jobs" in words(page)
    assert "/backlog" in page.links
    page = await browser.see("/backlog")
    assert all(f"{name}10" in words(page).replace(" ", "") for name in ("report", "other"))
    assert {"/backlog", "/platform/backlog"} <= page.forms
    await browser.post("/backlog", answer="latest")
    assert await backlog(house, "report") is None
    assert "No missed runs are held" in words(await browser.see("/backlog"))


async def test_the_page_of_a_job_decides_about_its_own(house):
    browser = await house.login()
    [entry] = await house.store.get_jobs("default", ["report"])
    path = f"/jobs/{entry.job.id}"
    assert "10 missed runs are held" in words(await browser.see(path))
    answer = await browser.post(f"{path}/backlog", answer="all", rate="5")
    assert answer.headers["location"].startswith(path)
    assert "missed runs are held" not in words(await browser.see(path))
    assert await backlog(house, "other") is not None


async def test_all_projects_are_decided_by_a_platform_admin(house):
    browser = await house.login()
    await browser.see("/backlog")
    await browser.post("/platform/backlog", answer="skip")
    assert await backlog(house, "other") is None


async def test_a_viewer_reads_of_it_and_decides_nothing(house):
    await house.admin.users.create(OWNER, "vic")
    await house.admin.members.set(OWNER, "vic", Role.VIEWER)
    browser = await house.login("vic")
    page = await browser.see("/backlog")
    assert "report" in page.text
    assert not {form for form in page.forms if "backlog" in form}
    assert (await browser.post("/backlog", answer="skip")).status_code == 403
    assert await backlog(house, "report") is not None
