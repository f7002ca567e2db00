"""Users of the platform: added, disabled, removed, given links and passwords."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from tickwell.errors import Conflict, InvalidInput, LimitReached, NotFound, Unauthenticated
from tickwell.services.access.actor import Actor, Permission, needs
from tickwell.services.access.directory import Directory
from tickwell.services.access.logins import PER_NAME, Links
from tickwell.services.access.passwords import Passwords
from tickwell.services.access.user import User, check_user_name, is_foreign, public
from tickwell.services.audit.audit import Audit
from tickwell.services.limits.request_limits import Buckets
from tickwell.services.projects.platform import PLATFORM
from tickwell.services.time import Time


class Users:
    """What a platform admin does with users, and what a user does with their own password."""

    def __init__(
        self,
        clock: Time,
        directory: Directory,
        passwords: Passwords,
        *,
        links: Links,
        audit: Audit,
    ) -> None:
        self._clock = clock
        self._directory = directory
        self._passwords = passwords
        self._links = links
        self._audit = audit
        self._tries = Buckets(PER_NAME)
        #: Between a look for other admins and a change nobody else looks.
        self._turn = asyncio.Lock()

    @needs(Permission.PLATFORM)
    async def create(
        self, actor: Actor, name: str, *, password: str | None = None, platform: bool = False
    ) -> User:
        """Add a user; without a password they log in by a link, or through another issuer."""
        now, checked = self._clock.now(), check_user_name(name)
        if password is not None and is_foreign(checked):
            reason = "users of another issuer have no password here"
            raise InvalidInput(reason, field="password", hint="Leave it out")
        user = User(
            name=checked,
            platform=platform,
            password=None if password is None else await self._passwords.hash(password),
            generation=now,
            created_at=now,
        )
        if not await self._directory.add(user):
            raise Conflict(f"a user named {user.name!r} exists already")
        await self._note(actor, "user.create", None, user)
        return user

    @needs(Permission.PLATFORM)
    async def change(
        self,
        actor: Actor,
        name: str,
        *,
        platform: bool | None = None,
        disabled: bool | None = None,
    ) -> User:
        """Make somebody a platform admin or not, able to log in or not; sessions end."""
        async with self._turn:
            if disabled or platform is False:
                await self._require_another_admin(name)
            before, after = await self._directory.change(
                name,
                lambda user: replace(
                    user,
                    platform=user.platform if platform is None else platform,
                    disabled=user.disabled if disabled is None else disabled,
                    generation=user.generation + 1,
                    # Known to the platform from now on: one who was disabled stays so.
                    invited=False,
                ),
            )
        await self._note(actor, "user.change", before, after)
        return after

    @needs(Permission.PLATFORM)
    async def remove(self, actor: Actor, name: str) -> None:
        """Forget a user, in every project."""
        async with self._turn:
            await self._require_another_admin(name)
            user = await self._directory.remove(name)
        if user is None:
            raise NotFound("user", name)
        await self._note(actor, "user.remove", user, None)

    @needs(Permission.PLATFORM)
    async def list(self, actor: Actor) -> list[User]:
        """All users, by name."""
        return [user async for user in self._directory.everybody()]

    @needs(Permission.PLATFORM)
    async def link(self, actor: Actor, name: str) -> str:
        """The token of a link that logs this user in, once."""
        user = await self._directory.read(name)
        if user is None:
            raise NotFound("user", name)
        token = await self._links.make(user)
        await self._audit.record(actor, "user.link", f"user/{name}", project=PLATFORM)
        return token

    async def set_password(self, actor: Actor, name: str, current: str, new: str) -> User:
        """A user's own act: the current password is asked for if there is one; sessions end."""
        user = await self._directory.read(name)
        if user is None or actor.name != f"user:{user.name}":
            raise NotFound("user", name)
        if is_foreign(user.name):
            # With one they would get in after their issuer has shut them out.
            raise InvalidInput("you log in through another issuer, and have no password here")
        if user.password:
            await self._require_password(actor, user, current)
        hashed = await self._passwords.hash(new, "new")
        _, after = await self._directory.change(
            name,
            lambda known: replace(known, password=hashed, generation=known.generation + 1),
        )
        await self._audit.record(actor, "user.password", f"user/{name}", project=PLATFORM)
        return after

    async def _require_password(self, actor: Actor, user: User, current: str) -> None:
        """A hijacked session must not be used to guess the password."""
        taken = self._tries.take(user.name, self._clock.now())
        if not taken.allowed:
            raise LimitReached(
                "too many tries to set a password", retry_after=taken.reset, hint="Try again later"
            )
        if not await self._passwords.matches(user.password, current):
            await self._audit.record(
                actor, "user.password_refused", f"user/{user.name}", project=PLATFORM
            )
            raise Unauthenticated("the current password is wrong")

    async def _require_another_admin(self, name: str) -> None:
        """Refuse to leave the platform without anybody who can let others in."""
        user = await self._directory.read(name)
        if user is None or not user.platform or user.disabled:
            return
        async for each in self._directory.everybody():
            if each.platform and not each.disabled and each.name != name:
                return
        raise Conflict(f"{name} is the only platform admin; make another user one first")

    async def _note(
        self, actor: Actor, action: str, before: User | None, after: User | None
    ) -> None:
        name = (after or before or User(name="")).name
        await self._audit.record(
            actor,
            action,
            f"user/{name}",
            None if before is None else public(before),
            None if after is None else public(after),
            project=PLATFORM,
        )
