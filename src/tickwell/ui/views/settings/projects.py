"""Projects of the platform, their limits and admins, and the server key behind all secrets."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

from tickwell.domain.fairness import FIRST_PROJECT
from tickwell.services.access.actor import Permission
from tickwell.services.limits.quota import LIMITS, quota_from_document, quota_to_document
from tickwell.ui.form_fields import parse_integer
from tickwell.ui.redirects import redirect_with_toast
from tickwell.ui.rendering import page
from tickwell.ui.views.settings.limits import WORDS
from tickwell.ui.visitor import Visitor, visit

PATH = "/settings/projects"
Text = Annotated[str, Form(max_length=255)]

router = APIRouter(include_in_schema=False)


@router.get(PATH)
async def projects(request: Request, visitor: Visitor = visit(Permission.PLATFORM)) -> HTMLResponse:
    """All of them, by name."""
    found = await visitor.admin.projects.list(visitor.actor)
    return page(request, visitor, "settings/projects.html", projects=found)


@router.post(PATH)
async def create(
    request: Request,
    *,
    name: Text,
    title: Text = "",
    admin: Text = "",
    visitor: Visitor = visit(Permission.PLATFORM),
) -> Response:
    """Create a project; the caller is its admin unless another is named."""
    made = await visitor.admin.projects.create(
        visitor.actor, name, title=title, admin=admin or None
    )
    return redirect_with_toast(request, f"Created project {made.name}", f"{PATH}/{made.name}")


@router.post("/settings/rewrap")
async def rewrap(request: Request, visitor: Visitor = visit(Permission.PLATFORM)) -> Response:
    """Put every secret and signing key under the current server key."""
    moved = await visitor.admin.rewrapping.run(visitor.actor)
    return redirect_with_toast(request, f"{moved:,} secrets re-encrypted", PATH)


@router.get(f"{PATH}/{{name}}")
async def project(
    request: Request, name: str, visitor: Visitor = visit(Permission.PLATFORM)
) -> HTMLResponse:
    """One project: its limits, a way in, a way out."""
    admin, actor = visitor.admin, visitor.actor
    found = await admin.projects.get(actor, name)
    quota = await admin.limits.of(actor, name)
    return page(
        request,
        visitor,
        "settings/project.html",
        project=found,
        limits=quota_to_document(quota),
        words=WORDS,
    )


@router.get(f"{PATH}/{{name}}/export")
async def export(name: str, visitor: Visitor = visit(Permission.PLATFORM)) -> JSONResponse:
    """Definitions, members, and the names of secrets, as a file."""
    document = await visitor.admin.projects.export(visitor.actor, name)
    headers = {"content-disposition": f'attachment; filename="{name}.json"'}
    return JSONResponse(document, headers=headers)


@router.post(f"{PATH}/{{name}}/admins")
async def appoint(
    request: Request, name: str, user: Text, visitor: Visitor = visit(Permission.PLATFORM)
) -> Response:
    """Make a user an admin: the way in when its last one is gone."""
    await visitor.admin.projects.appoint(visitor.actor, name, user)
    return redirect_with_toast(request, f"{user} is an admin of {name}", f"{PATH}/{name}")


@router.post(f"{PATH}/{{name}}/limits")
async def set_limits(
    request: Request, name: str, visitor: Visitor = visit(Permission.PLATFORM)
) -> Response:
    """Give it limits of its own."""
    form = await request.form()
    quota = quota_from_document({each: parse_integer(form.get(each), each) for each in LIMITS})
    back = "/settings/limits"
    if name != FIRST_PROJECT:  # which is there without being made, and has no page of its own
        await visitor.admin.projects.get(visitor.actor, name)
        back = f"{PATH}/{name}"
    await visitor.admin.limits.set(visitor.actor, name, quota)
    return redirect_with_toast(request, f"Updated the limits of {name}", back)


@router.post(f"{PATH}/{{name}}/delete")
async def delete(
    request: Request, name: str, visitor: Visitor = visit(Permission.PLATFORM)
) -> Response:
    """Take it away: its keys and members at once, its jobs, its secrets."""
    await visitor.admin.projects.delete(visitor.actor, name)
    return redirect_with_toast(request, f"Deleted project {name}", PATH)
