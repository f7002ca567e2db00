"""Somebody who can let others in stays, in a project and on the platform."""

import asyncio
from functools import partial

import pytest

from tests.services.admin.test_users import add
from tickwell.errors import Conflict
from tickwell.services.access import directory
from tickwell.services.access.actor import Role
from tickwell.services.every_record import every_record


async def test_the_last_platform_admin_stays(office, service):
    await add(office, service, platform=True)
    owner, name = office.owner(), "ada@example.com"
    for change in (
        service.users.change(owner, name, platform=False),
        service.users.change(owner, name, disabled=True),
        service.users.remove(owner, name),
    ):
        with pytest.raises(Conflict, match="only platform admin"):
            await change
    await add(office, service, "bob@example.com", platform=True)
    await service.users.change(owner, "bob@example.com", disabled=True)
    with pytest.raises(Conflict, match="only platform admin"):
        await service.users.remove(owner, name)
    await service.users.change(owner, "bob@example.com", disabled=False)
    await service.users.remove(owner, name)


async def test_the_only_admin_of_a_project_stays_one(office, service):
    await service.projects.create(office.owner(), "acme", admin="ada")
    members, admin = service.members, office.actor()
    for change in (members.set(admin, "Ada", Role.VIEWER), members.remove(admin, "ada")):
        with pytest.raises(Conflict, match="only admin"):
            await change
    await members.set(admin, "ada", Role.ADMIN)
    await members.set(admin, "bob", Role.ADMIN)
    await members.set(admin, "ada", Role.VIEWER)
    assert await members.list(admin) == [("ada", Role.VIEWER), ("bob", Role.ADMIN)]


async def test_two_who_take_each_other_away_leave_one(office, service):
    await service.projects.create(office.owner(), "acme", admin="ada")
    await service.members.set(office.actor(), "bob", Role.ADMIN)
    for name in ("ada", "bob"):
        await service.users.change(office.owner(), name, platform=True)
    for removals in (
        [service.members.remove(office.actor(), name) for name in ("ada", "bob")],
        [service.users.remove(office.owner(), name) for name in ("ada", "bob")],
    ):
        answers = await asyncio.gather(*removals, return_exceptions=True)
        assert [type(each) for each in answers if each is not None] == [Conflict]


async def test_the_guard_looks_beyond_the_first_page_of_users(office, service, monkeypatch):
    monkeypatch.setattr(directory, "every_record", partial(every_record, page=3))
    for name in ("a", "aa", "ab@example.com", "b", "okta:X", "okta:Y"):
        await service.users.create(office.owner(), name)
    await add(office, service, "zoe", platform=True)
    with pytest.raises(Conflict, match="only platform admin"):
        await service.users.remove(office.owner(), "zoe")
    await add(office, service, "yan", platform=True)
    await service.users.remove(office.owner(), "zoe")
    names = [user.name for user in await service.users.list(office.owner())]
    assert names == ["a", "aa", "ab@example.com", "b", "okta:X", "okta:Y", "yan"]


async def test_a_member_who_was_only_invited_goes_with_the_last_role(office, service):
    admin, other = office.actor(), office.actor(project="other")
    await service.members.set(admin, "ada", Role.VIEWER)
    await service.members.set(other, "ada", Role.VIEWER)
    await service.members.remove(admin, "ada")
    assert await service.directory.read("ada") is not None
    await service.members.remove(other, "ada")
    assert await service.directory.read("ada") is None
    assert await service.users.list(office.owner()) == []
    await service.members.set(admin, "ada", Role.EDITOR)
    assert await service.members.list(admin) == [("ada", Role.EDITOR)]


async def test_a_user_whom_the_platform_knows_stays_without_a_role(office, service):
    admin = office.actor()
    await service.users.create(office.owner(), "made")
    for name in ("made", "banned", "okta:seen"):
        await service.members.set(admin, name, Role.VIEWER)
    await service.users.change(office.owner(), "banned", disabled=True)
    seen = await service.directory.read("okta:seen")
    assert seen is not None
    await service.directory.note_arrival(seen)
    for name in ("made", "banned", "okta:seen"):
        await service.members.remove(admin, name)
    users = {user.name: user.disabled for user in await service.users.list(office.owner())}
    assert users == {"banned": True, "made": False, "okta:seen": False}
