"""The visitor of a page: actor, project, theme and time zone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any
from zoneinfo import ZoneInfo

from fastapi import Depends, Request

from tickwell.services.access.actor import Actor, Permission
from tickwell.services.access.user import User, is_foreign
from tickwell.services.admin.admin import AdminServices
from tickwell.services.operations import Operations
from tickwell.services.projects.platform import DEFAULT
from tickwell.web.context import Context, administration_in, context_of

THEMES = ("system", "light", "dark")


@dataclass
class Visitor:
    """What every page knows about its visitor."""

    actor: Actor
    context: Context
    #: The CSRF token that every form sends back.
    token: str
    theme: str
    zone: ZoneInfo
    #: Projects to switch between; all projects where authentication is off.
    projects: tuple[str, ...] = ()
    #: Whether they logged in by a link and have no password for the next time.
    lacks_password: bool = False
    #: The event count when the page was rendered: its live stream reports events since then.
    heard: int = 0

    @cached_property
    def now(self) -> int:
        """The time of the page, read once."""
        return self.context.clock.now()

    @property
    def operations(self) -> Operations:
        """The operations, under the same rules as in the API."""
        return self.context.operations

    @property
    def admin(self) -> AdminServices:
        """Access, projects, secrets, limits and the audit log."""
        return administration_in(self.context)

    @property
    def user(self) -> str | None:
        """The name of the logged-in user; None where authentication is off."""
        kind, _, name = self.actor.name.partition(":")
        return name if kind == "user" else None

    @property
    def option(self) -> str:
        """The option that makes a CLI command use the same project."""
        return "" if self.actor.project == DEFAULT else f" --project {self.actor.project}"

    async def called(self, actor: str) -> str:
        """An actor for display: a user or a key by name."""
        kind, _, name = actor.partition(":")
        if kind == "user":
            return name
        if kind != "key" or self.context.admin is None:
            return actor
        known = await self.context.admin.keys.name_of(self.actor, name)
        return actor if known is None else f"key {known!r}"

    def may(self, permission: str) -> bool:
        """Whether to show a control; the operation checks the permission again."""
        return Permission(permission) in self.actor.permissions


def visit(permission: Permission) -> Any:
    """A dependency that admits visitors with the permission."""

    async def admitted(request: Request) -> Visitor:
        return await visitor_of(request, permission)

    admitted.permission = permission.value  # type: ignore[attr-defined]
    return Depends(admitted, use_cache=False)


async def visitor_of(request: Request, permission: Permission | None = None) -> Visitor:
    """The visitor, with the permission if the page needs one."""
    context = context_of(request)
    actor, token = await context.visit(request)
    heard = request.app.state.hub.heard(actor.project)
    if permission is not None:
        actor.require(permission)
    user = await _user(context, actor)
    return Visitor(
        actor=actor,
        context=context,
        token=token,
        theme=theme_of(request),
        zone=_zone(request.cookies.get("zone", "")),
        projects=tuple(sorted(user.roles)) if user else await _all_projects(context, actor),
        lacks_password=user is not None and user.password is None and not is_foreign(user.name),
        heard=heard,
    )


async def _all_projects(context: Context, actor: Actor) -> tuple[str, ...]:
    if context.admin is None or context.settings.auth:
        return ()
    names = await context.admin.projects.names(actor)
    return tuple(names) if actor.project in names else (actor.project, *names)


async def _user(context: Context, actor: Actor) -> User | None:
    kind, _, name = actor.name.partition(":")
    if context.admin is None or kind != "user":
        return None
    return await context.admin.directory.find(name)


def theme_of(request: Request) -> str:
    """The theme that the visitor chose, or that of the system."""
    cookie = request.cookies.get("theme", "")
    return cookie if cookie in THEMES else THEMES[0]


def _zone(cookie: str) -> ZoneInfo:
    """The time zone of the browser; UTC if the cookie does not hold one."""
    try:
        return ZoneInfo(cookie or "UTC")
    except (KeyError, ValueError, OSError):
        return ZoneInfo("UTC")
