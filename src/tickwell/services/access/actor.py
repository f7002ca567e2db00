"""The actor: who asks, in which project, and with which rights."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from tickwell.errors import Forbidden
from tickwell.services.projects.platform import PLATFORM


class Permission(StrEnum):
    """One right within a project, or over the platform. Every operation needs exactly one."""

    #: See jobs, executions, dead letters, slots, workers, queues and live events.
    READ = "read"
    #: Trigger, backfill, cancel, pause, resume and revive.
    OPERATE = "operate"
    #: Add, change and delete jobs; purge dead letters.
    EDIT = "edit"
    #: Members, keys, secrets, callbacks, limits and the audit log of a project.
    ADMINISTER = "administer"
    #: Make, export and delete projects; users.
    PLATFORM = "platform"


class Role(StrEnum):
    """What a member of a project is; each can do all that the one before it can."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    EDITOR = "editor"
    ADMIN = "admin"


_RIGHTS = (Permission.READ, Permission.OPERATE, Permission.EDIT, Permission.ADMINISTER)


@cache
def permissions_of(role: Role) -> frozenset[Permission]:
    """Everything that a role may do in its project."""
    return frozenset(_RIGHTS[: tuple(Role).index(role) + 1])


P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """The caller of an operation. Made by authentication only, never from a request's body."""

    #: For people and the audit log: "user:ada@example.com", "key:k_3f…", "local".
    name: str
    #: The project that every record of the operation belongs to.
    project: str
    permissions: frozenset[Permission]
    #: Where the request came from, and its id; empty when it came from this machine's own hand.
    address: str = ""
    request_id: str = ""
    #: The instant at which the API key ends that the request came with; None: never, or no key.
    key_ends: int | None = None

    def require(self, permission: Permission) -> None:
        """Raise `Forbidden` without the permission."""
        if permission not in self.permissions:
            raise Forbidden(permission, self.name)

    def require_all(self, permissions: Iterable[Permission]) -> None:
        """The same for several: nobody gives away what they do not have."""
        for permission in sorted(permissions):
            self.require(permission)


def stranger(address: str = "", request_id: str = "") -> Actor:
    """A caller without credentials."""
    return Actor(
        name="anonymous",
        project=PLATFORM,
        permissions=frozenset(),
        address=address,
        request_id=request_id,
    )


Operation = Callable[Concatenate[S, Actor, P], Coroutine[Any, Any, R]]


def needs(permission: Permission) -> Callable[[Operation[S, P, R]], Operation[S, P, R]]:
    """An operation whose actor must hold the permission, whichever face it comes from."""

    def decorate(operation: Operation[S, P, R]) -> Operation[S, P, R]:
        @wraps(operation)
        async def guarded(self: S, actor: Actor, /, *args: P.args, **kwargs: P.kwargs) -> R:
            actor.require(permission)
            return await operation(self, actor, *args, **kwargs)

        guarded.permission = permission  # type: ignore[attr-defined]
        return guarded

    return decorate
