"""Users of the platform: a login link is shown once, on the page that answers."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse

from tickwell.services.access.actor import Permission
from tickwell.ui.redirects import redirect_with_toast
from tickwell.ui.rendering import page
from tickwell.ui.visitor import Visitor, visit
from tickwell.web.origin import login_address

PATH = "/settings/users"
Name = Annotated[str, Form(max_length=255)]

router = APIRouter(include_in_schema=False)


@router.get(PATH)
async def users(request: Request, visitor: Visitor = visit(Permission.PLATFORM)) -> HTMLResponse:
    """Everybody, by name."""
    return await _page(request, visitor)


@router.post(PATH)
async def create(
    request: Request,
    *,
    name: Name,
    password: Annotated[str, Form(max_length=1024)] = "",
    platform: Annotated[bool, Form()] = False,
    visitor: Visitor = visit(Permission.PLATFORM),
) -> Response:
    """Add a user; without a password they log in by a link, or through another issuer."""
    made = await visitor.admin.users.create(
        visitor.actor, name, password=password or None, platform=platform
    )
    return redirect_with_toast(request, f"Added {made.name}; now add them to a project", PATH)


@router.post(f"{PATH}/change")
async def change(
    request: Request,
    *,
    name: Name,
    platform: Annotated[bool | None, Form()] = None,
    disabled: Annotated[bool | None, Form()] = None,
    visitor: Visitor = visit(Permission.PLATFORM),
) -> Response:
    """Make somebody a platform admin or not, able to log in or not; their sessions end."""
    await visitor.admin.users.change(visitor.actor, name, platform=platform, disabled=disabled)
    return redirect_with_toast(request, f"Updated {name}", PATH)


@router.post(f"{PATH}/remove")
async def remove(
    request: Request, name: Name, visitor: Visitor = visit(Permission.PLATFORM)
) -> Response:
    """Forget a user, in every project."""
    await visitor.admin.users.remove(visitor.actor, name)
    return redirect_with_toast(request, f"Removed {name}", PATH)


@router.post(f"{PATH}/link")
async def link(
    request: Request, name: Name, visitor: Visitor = visit(Permission.PLATFORM)
) -> HTMLResponse:
    """A link that logs this user in, once."""
    token = await visitor.admin.users.link(visitor.actor, name)
    return await _page(request, visitor, name, login_address(request, token))


async def _page(
    request: Request, visitor: Visitor, linked: str = "", address: str = ""
) -> HTMLResponse:
    found = await visitor.admin.users.list(visitor.actor)
    return page(
        request, visitor, "settings/users.html", users=found, linked=linked, address=address
    )
