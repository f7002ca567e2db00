"""Whoever may not do something finds neither a button nor a link for it, on any page."""

import re

import pytest

from tests.ui.house import OWNER
from tests.ui.test_reach import crawl, furnish
from tickwell.services.access.actor import Role, permissions_of
from tickwell.ui.app import pages
from tickwell.web.authentication import PUBLIC, permission_of


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR, Role.EDITOR])
async def test_all_that_a_page_offers_is_allowed(house, role):
    await furnish(house)
    await house.admin.members.set(OWNER, "eve", role)
    browser = await house.login("eve")
    found = await crawl(browser)  # every link leads to a page
    actions = {action for page in found.values() for action in page.forms}
    refused = {each for each in actions if not _may(role, each)}
    assert refused == set()
    text = (await browser.see("/")).source
    assert ("/jobs/new" in text, "data-edits" in text) == (role is Role.EDITOR,) * 2


async def test_without_a_job_nobody_is_sent_where_they_may_not_go(house):
    await house.admin.members.set(OWNER, "eve", Role.VIEWER)
    found = await crawl(await house.login("eve"))
    assert {"/", "/jobs", "/timeline", "/calendar"} <= found.keys()


def _may(role, action):
    known = [route for route in pages() if "POST" in (route.methods or ())]
    found = [each for each in known if re.fullmatch(_pattern(each.path), action)]
    route = min(found, key=lambda each: each.path.count("{"))
    needed = permission_of(route)
    return needed == PUBLIC or needed in permissions_of(role)


def _pattern(path):
    return re.sub(r"\{\w+\}", "[^/]+", path)
