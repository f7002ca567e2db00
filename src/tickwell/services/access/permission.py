"""Permissions, and the roles that hold them."""

from __future__ import annotations

from enum import StrEnum
from functools import cache


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
