"""Members of the project, and their roles."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse

from tickwell.services.access.actor import Permission, Role
from tickwell.ui.redirects import redirect_with_toast
from tickwell.ui.rendering import page
from tickwell.ui.visitor import Visitor, visit

PATH = "/settings/members"
Name = Annotated[str, Form(max_length=255)]

router = APIRouter(include_in_schema=False)


@router.get(PATH)
async def members(
    request: Request, visitor: Visitor = visit(Permission.ADMINISTER)
) -> HTMLResponse:
    """Who is what in the project."""
    found = await visitor.admin.members.list(visitor.actor)
    return page(request, visitor, "settings/members.html", members=found, roles=tuple(Role))


@router.post(PATH)
async def put(
    request: Request,
    name: Name,
    role: Annotated[Role, Form()],
    visitor: Visitor = visit(Permission.ADMINISTER),
) -> Response:
    """Make somebody a member, or give a member another role."""
    await visitor.admin.members.set(visitor.actor, name, role)
    return redirect_with_toast(request, f"{name} is {role.value} of {visitor.actor.project}", PATH)


@router.post(f"{PATH}/remove")
async def remove(
    request: Request, name: Name, visitor: Visitor = visit(Permission.ADMINISTER)
) -> Response:
    """Take a member's rights in this project away."""
    await visitor.admin.members.remove(visitor.actor, name)
    return redirect_with_toast(request, f"Removed {name} from the project", PATH)
