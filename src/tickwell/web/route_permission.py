"""Which permission a route needs: declared once, checked before a body is read, in OpenAPI."""

from __future__ import annotations

import asyncio
from inspect import signature
from typing import Any, cast

from fastapi import Depends, Request
from fastapi.routing import APIRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from tickwell.errors import StoreUnavailable
from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission
from tickwell.services.health import PATIENCE
from tickwell.web.context import context_of

#: What a route declares that needs no actor.
PUBLIC = "public"


def allow(permission: Permission) -> Any:
    """The default of a route's parameter `actor: Actor`: whoever asks, if permitted."""

    async def authorised(request: Request) -> Actor:
        request.state.needs = permission
        actor = await context_of(request).authenticate(request)
        actor.require(permission)
        return actor

    authorised.permission = permission.value  # type: ignore[attr-defined]
    return Depends(authorised, use_cache=False)


def allow_despite_outage(permission: Permission) -> Any:
    """The same for a route that also answers while keys cannot be checked: then `actor` is None."""

    async def authorised(request: Request) -> Actor | None:
        context = context_of(request)
        request.state.needs = permission
        # First, and not after a check that hangs: a probe has to answer before it is given up.
        if not (await context.health.platform()).database:
            return None
        try:
            async with asyncio.timeout(PATIENCE):
                actor = await context.authenticate(request)
        except TimeoutError as error:
            raise StoreUnavailable(f"no answer for {PATIENCE:g} s") from error
        actor.require(permission)
        return actor

    authorised.permission = permission.value  # type: ignore[attr-defined]
    return Depends(authorised, use_cache=False)


def is_of_platform(request: Request) -> bool:
    """Whether it is in no project: one that it names need not be the actor's, or anybody's."""
    return request.scope.get("state", {}).get("needs") is Permission.PLATFORM


def public() -> Any:
    """For a route that anybody may ask: `dependencies=[public()]`."""

    async def anybody() -> None:
        """Nothing to check."""

    anybody.permission = PUBLIC  # type: ignore[attr-defined]
    return Depends(anybody)


def direct(route: APIRoute) -> ASGIApp | None:
    """The route without the framework's way of finding arguments, where it needs none of it.

    A route that takes a request, an actor and texts from its path is called three times as fast.
    """
    names = set(route.param_convertors)
    guards = [each.call for each in route.dependant.dependencies]
    taken = signature(route.endpoint).parameters
    if len(guards) != 1 or set(taken) != {"request", "actor", *names}:
        return None
    endpoint, authorise = cast("Any", route.endpoint), cast("Any", guards[0])

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive, send)
        actor = await authorise(request)
        response = await endpoint(request, actor=actor, **scope["path_params"])
        await response(scope, receive, send)

    return app


def permission_of(route: APIRoute) -> str:
    """What a route declares; a route that declares nothing, or two things, is a mistake."""
    found = [
        declared
        for dependency in route.dependant.dependencies
        if (declared := getattr(dependency.call, "permission", None)) is not None
    ]
    if len(found) != 1:
        raise TypeError(f"{route.path} declares {found or 'no permission'}; one is needed")
    return str(found[0])
