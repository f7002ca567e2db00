"""Members of a project, and their roles."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import replace

from tickwell.errors import Conflict, InvalidInput, NotFound
from tickwell.services.access.actor import Actor, Permission, Role, needs, permissions_of
from tickwell.services.access.directory import Directory
from tickwell.services.access.user import User, check_user_name, with_role
from tickwell.services.audit.audit import Audit
from tickwell.services.time import Time

#: Members of one project.
MOST = 1000


class Members:
    """Who is what in the actor's project."""

    def __init__(self, clock: Time, directory: Directory, audit: Audit) -> None:
        self._clock = clock
        self._directory = directory
        self._audit = audit
        #: By project: between a look, for room or for other admins, and the change nobody else
        #: looks.
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @needs(Permission.ADMINISTER)
    async def set(self, actor: Actor, name: str, role: Role) -> Role:
        """Make somebody a member, or give a member another role.

        A user that does not exist is made, without a password: so the answer tells nobody whether
        somebody has an account here.
        """
        actor.require_all(permissions_of(role))
        async with self._turns[actor.project]:
            if role is not Role.ADMIN:
                await self._require_another_admin(actor.project, check_user_name(name))
            await self._require_room(actor.project, check_user_name(name))
            before = await give_role(self._directory, self._clock, name, actor.project, role)
        await self._audit.record(
            actor,
            "member.set",
            f"member/{check_user_name(name)}",
            None if before is None else {"role": before.value},
            {"role": role.value},
        )
        return role

    @needs(Permission.ADMINISTER)
    async def remove(self, actor: Actor, name: str) -> None:
        """Take a member's rights in this project away."""
        user = await self._directory.read(name)
        role = user.roles.get(actor.project) if user else None
        if role is None:
            raise NotFound("member", name)
        async with self._turns[actor.project]:
            await self._require_another_admin(actor.project, name)
            await self._directory.change(name, lambda each: without(each, actor.project))
        await self._audit.record(
            actor, "member.remove", f"member/{name}", {"role": role.value}, None
        )

    @needs(Permission.ADMINISTER)
    async def list(self, actor: Actor) -> list[tuple[str, Role]]:
        """Names and roles, by name."""
        members = await self._directory.members(actor.project)
        return [(user.name, user.roles[actor.project]) for user in members]

    async def _require_room(self, project: str, name: str) -> None:
        """Refuse more than a project may have: each that is new is a user of the platform."""
        user = await self._directory.read(name)
        is_member = user is not None and project in user.roles
        if not is_member and await self._directory.count_members(project, MOST) >= MOST:
            raise InvalidInput(f"a project has {MOST:,} members at most", hint="Remove some")

    async def _require_another_admin(self, project: str, name: str) -> None:
        """Refuse to leave a project without anybody who can let others in."""
        members = await self._directory.members(project)
        admins = [each.name for each in members if each.roles[project] is Role.ADMIN]
        if admins == [name]:
            raise Conflict(f"{name} is the only admin; give another member the role admin first")


async def give_role(
    directory: Directory, clock: Time, name: str, project: str, role: Role
) -> Role | None:
    """Make a user, existing or not, a member; the role before, if any."""
    name, now = check_user_name(name), clock.now()
    new = User(name=name, generation=now, created_at=now, invited=True)
    made = with_role(new, project, role)
    if await directory.read(name) is None and await directory.add(made):
        return None
    before, _ = await directory.change(name, lambda user: with_role(user, project, role))
    return before.roles.get(project)


def without(user: User, project: str, *, gone: bool = False) -> User:
    """The user as no member of the project; of one that is gone nobody is at home any more."""
    roles = {name: role for name, role in user.roles.items() if name != project}
    home = "" if gone and user.home == project else user.home
    return replace(user, roles=roles, home=home)
