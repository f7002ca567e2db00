"""The page of monitors: added, shown, and given another URL."""

import re

import pytest

from tests.ui.house import OWNER
from tickwell.services.access.actor import Role

PATH = "/monitors"
URL = re.compile(r"https?://[^\s<]+/ping/[0-9a-f-]{36}")


@pytest.mark.parametrize("schedule", ["1d", "0 3 * * *", "every weekday at 9"])
async def test_a_monitor_is_added_and_its_url_is_shown_once(house, schedule):
    browser = await house.login()
    await browser.see(PATH)
    page = await browser.post(PATH, name="backup", schedule=schedule, grace="30m")
    assert page.status_code == 200
    (url,) = URL.findall(page.text)
    shown = await browser.see(PATH)
    assert "backup" in shown.text
    assert URL.findall(shown.text) == []
    page = await browser.post(f"{PATH}/backup/rotate")
    (other,) = URL.findall(page.text)
    assert other != url


async def test_what_is_wrong_is_said(house):
    browser = await house.login()
    await browser.see(PATH)
    page = await browser.post(PATH, name="backup", schedule="61 * * * *")
    assert page.status_code == 422
    found = await house.context.operations.monitors.list(OWNER)
    assert found.items == []


async def test_a_viewer_sees_monitors_and_changes_nothing(house):
    await house.admin.members.set(OWNER, "eve", Role.VIEWER)
    browser = await house.login("eve")
    page = await browser.see(PATH)
    assert not [form for form in page.forms if form.startswith(PATH)]
    assert (await browser.post(PATH, name="x", schedule="1d")).status_code == 403
