"""The first start: a project, a user, a way in."""

from __future__ import annotations

from dataclasses import dataclass, field

from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission, Role
from tickwell.services.access.user import User, with_role
from tickwell.services.admin.admin import Administration
from tickwell.services.projects.platform import DEFAULT
from tickwell.services.time import Time

#: The user of the embedded case; logs in by links.
LOCAL = "local"
#: Milliseconds that the first link is good for.
LINK_LIFE = 3_600_000
#: Seconds that the first key is good for, unless a setting says otherwise.
KEY_LIFE = 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """What the first start shows, once."""

    #: Goes into /login?link=…
    link_token: str = field(repr=False)
    key: str = field(repr=False)


async def bootstrap(
    administration: Administration, clock: Time, *, key_life: float = KEY_LIFE
) -> Bootstrap | None:
    """Make the first user, and a key that lasts this many seconds; None: done before."""
    user = await ensure_first_user(administration, clock)
    if user is None:
        return None
    actor = Actor(name=LOCAL, project=DEFAULT, permissions=frozenset(Permission))
    end = clock.now() + int(key_life * 1000) if key_life else None
    key = await administration.keys.create(
        actor, "made at the first start", Role.ADMIN, expires_at=end
    )
    return Bootstrap(await administration.links.make(user, LINK_LIFE), key.token)


async def ensure_first_user(administration: Administration, clock: Time) -> User | None:
    """Make the default project and its admin; None when somebody has done so before."""
    if await administration.projects.ensure(DEFAULT, by=LOCAL) is None:
        return None
    now = clock.now()
    new = User(name=LOCAL, platform=True, generation=now, created_at=now)
    user = with_role(new, DEFAULT, Role.ADMIN)
    await administration.directory.add(user)
    return user
