"""A person who may log in, as they are stored."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tickwell.errors import InvalidInput
from tickwell.services.access.actor import Role

#: Of the local ones. Those that another issuer vouches for have its name and a colon before.
_NAME = re.compile(r"[a-z0-9][a-z0-9._+@-]{0,126}")
_FOREIGN = re.compile(r"[a-z0-9-]{1,32}:[!-~]{1,200}")


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """What a user is in each project stands here, so that one read tells all."""

    name: str
    #: Owns projects and users.
    platform: bool = False
    #: As argon2id made it; None: logs in otherwise.
    password: str | None = field(default=None, repr=False)
    disabled: bool = False
    roles: Mapping[str, Role] = field(default_factory=dict)
    #: The project of requests that name none: the first one they were let into, also when they are
    #: in it no longer. Anybody who administers a project can make them a member of another, which
    #: must not lead them there.
    home: str = ""
    #: Raised to end all sessions and tokens at once.
    generation: int = 0
    created_at: int = 0
    #: Made by an admin of a project as its member, and not yet seen with a token of an issuer:
    #: goes with the last role, else each name that is added and removed would leave a user behind.
    invited: bool = False


def user_to_document(user: User) -> dict[str, Any]:
    """As it is stored."""
    return {
        "name": user.name,
        "platform": user.platform,
        "password": user.password,
        "disabled": user.disabled,
        "roles": {project: role.value for project, role in user.roles.items()},
        "home": user.home,
        "generation": user.generation,
        "created_at": user.created_at,
        "invited": user.invited,
    }


def user_from_document(document: dict[str, Any]) -> User:
    """The user in a stored document."""
    roles = {project: Role(role) for project, role in document["roles"].items()}
    return User(**document | {"roles": roles})


def with_role(user: User, project: str, role: Role) -> User:
    """The user as a member of the project."""
    home = user.home or min(user.roles, default=project)
    return replace(user, roles={**user.roles, project: role}, home=home)


def public(user: User) -> dict[str, Any]:
    """What others may know of a user."""
    document = user_to_document(user)
    return {name: document[name] for name in ("name", "platform", "disabled", "roles")}


def is_foreign(name: str) -> bool:
    """Whether another issuer vouches for the user."""
    return ":" in name


def check_user_name(text: str) -> str:
    """The name in lower case, if a user may be called so."""
    name = text.strip()
    if _FOREIGN.fullmatch(name):
        return name
    if _NAME.fullmatch(name.lower()):
        return name.lower()
    raise InvalidInput(
        f"{text[:64]!r} is not a valid user name",
        field="name",
        hint="Use an address such as ada@example.com, or letters, digits and . _ + - @",
    )
