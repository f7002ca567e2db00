"""The visitor: whoever looks at a page, and how they like it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any
from zoneinfo import ZoneInfo

from fastapi import Depends, Request

from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission
from tickwell.services.access.user import User, is_foreign
from tickwell.services.admin.admin import Administration
from tickwell.services.operations import Operations
from tickwell.services.projects.platform import DEFAULT
from tickwell.web.context import Context, administration_in, context_of

THEMES = ("system", "light", "dark")


@dataclass
class Visitor:
    """What every page knows of the person before it."""

    actor: Actor
    context: Context
    #: Sent back with every change, so that another site cannot make a browser ask for one.
    token: str
    theme: str
    zone: ZoneInfo
    #: What they may choose from; all there are where nobody is asked who they are.
    projects: tuple[str, ...] = ()
    #: Whether they came by a link, and have nothing to log in with the next time.
    lacks_password: bool = False
    #: Events that the engine had told when the page was asked for: its stream tells those since.
    heard: int = 0

    @cached_property
    def now(self) -> int:
        """One instant for the whole page."""
        return self.context.clock.now()

    @property
    def operations(self) -> Operations:
        """What can be done, by the same rules as over the API."""
        return self.context.operations

    @property
    def administration(self) -> Administration:
        """Access, projects, secrets, limits and the audit log, by the same rules too."""
        return administration_in(self.context)

    @property
    def user(self) -> str | None:
        """The name of whoever logged in; None where nobody is asked."""
        kind, _, name = self.actor.name.partition(":")
        return name if kind == "user" else None

    @property
    def option(self) -> str:
        """What a command needs beside its own words, so that it is about the same project."""
        return "" if self.actor.project == DEFAULT else f" --project {self.actor.project}"

    async def called(self, actor: str) -> str:
        """Whoever did something, as people know them: a key by its name."""
        kind, _, name = actor.partition(":")
        if kind == "user":
            return name
        if kind != "key" or self.context.administration is None:
            return actor
        known = await self.context.administration.keys.name_of(self.actor, name)
        return actor if known is None else f"the key {known!r}"

    def may(self, permission: str) -> bool:
        """Whether a button makes sense; the operation asks again."""
        return Permission(permission) in self.actor.permissions


def visit(permission: Permission) -> Any:
    """What lets a visitor in who holds the permission, as the default of a parameter."""

    async def admitted(request: Request) -> Visitor:
        context = context_of(request)
        actor, token = await context.visit(request)
        heard = request.app.state.hub.heard(actor.project)
        actor.require(permission)
        user = await _user(context, actor)
        return Visitor(
            actor=actor,
            context=context,
            token=token,
            theme=_theme(request.cookies.get("theme", "")),
            zone=_zone(request.cookies.get("zone", "")),
            projects=tuple(sorted(user.roles)) if user else await _all_projects(context, actor),
            lacks_password=user is not None and user.password is None and not is_foreign(user.name),
            heard=heard,
        )

    admitted.permission = permission.value  # type: ignore[attr-defined]
    return Depends(admitted, use_cache=False)


async def _all_projects(context: Context, actor: Actor) -> tuple[str, ...]:
    if context.administration is None or context.settings.auth:
        return ()
    names = await context.administration.projects.names(actor)
    return tuple(names) if actor.project in names else (actor.project, *names)


async def _user(context: Context, actor: Actor) -> User | None:
    kind, _, name = actor.name.partition(":")
    if context.administration is None or kind != "user":
        return None
    return await context.administration.directory.find(name)


def _theme(given: str) -> str:
    return given if given in THEMES else THEMES[0]


def _zone(given: str) -> ZoneInfo:
    """The zone that the browser told us; what it told us may be anything."""
    try:
        return ZoneInfo(given or "UTC")
    except (KeyError, ValueError, OSError):
        return ZoneInfo("UTC")
