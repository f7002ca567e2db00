"""Somebody who can let others in stays, in a project and on the platform."""

import asyncio

import pytest

from tests.services.administration.test_users import add
from tickwell.errors import Conflict
from tickwell.services.access.permission import Role


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
