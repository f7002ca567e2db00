"""API keys of the project: a new one is shown once, on the page that answers."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse

from tickwell.domain.trigger import parse_duration
from tickwell.services.access.actor import Permission, Role
from tickwell.services.access.keys import OVERLAP, NewKey
from tickwell.ui.redirects import redirect_with_toast
from tickwell.ui.rendering import page
from tickwell.ui.visitor import Visitor, visit
from tickwell.web.origin import origin_of

PATH = "/settings/keys"
Duration = Annotated[str, Form(max_length=20)]

router = APIRouter(include_in_schema=False)


@router.get(PATH)
async def keys(request: Request, visitor: Visitor = visit(Permission.ADMINISTER)) -> HTMLResponse:
    """All keys, without their secrets."""
    return await _page(request, visitor)


@router.post(PATH)
async def create(
    request: Request,
    *,
    name: Annotated[str, Form(max_length=255)],
    role: Annotated[Role, Form()],
    life: Duration = "",
    permissions: Annotated[list[Permission] | None, Form()] = None,
    visitor: Visitor = visit(Permission.ADMINISTER),
) -> HTMLResponse:
    """Make a key, for ever or for a while."""
    made = await visitor.admin.keys.create(
        visitor.actor,
        name,
        role,
        permissions=frozenset(permissions) if permissions else None,
        expires_at=visitor.now + parse_duration(life, field="life") if life else None,
    )
    return await _page(request, visitor, made)


@router.post(f"{PATH}/{{id}}/rotate")
async def rotate(
    request: Request,
    id: str,
    overlap: Duration = "",
    visitor: Visitor = visit(Permission.ADMINISTER),
) -> HTMLResponse:
    """Make a key that takes over; the old one works on for a day, or as long as one says."""
    life = parse_duration(overlap, field="overlap") if overlap else OVERLAP
    made = await visitor.admin.keys.rotate(visitor.actor, id, life)
    return await _page(request, visitor, made)


@router.post(f"{PATH}/{{id}}/revoke")
async def revoke(
    request: Request, id: str, visitor: Visitor = visit(Permission.ADMINISTER)
) -> Response:
    """Take a key away; it is refused within seconds, everywhere."""
    await visitor.admin.keys.revoke(visitor.actor, id)
    return redirect_with_toast(request, "Key revoked", PATH)


async def _page(request: Request, visitor: Visitor, made: NewKey | None = None) -> HTMLResponse:
    found = await visitor.admin.keys.list(visitor.actor)
    return page(
        request,
        visitor,
        "settings/keys.html",
        keys=sorted(found, key=lambda each: each[0].created_at, reverse=True),
        made=made,
        roles=tuple(Role),
        permissions=[each for each in Permission if each is not Permission.PLATFORM],
        origin=origin_of(request),
    )
