"""The visitor's own account: who they are here, and their password."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse

from tickwell.errors import NotFound
from tickwell.services.access.actor import Permission
from tickwell.services.access.passwords import SHORTEST
from tickwell.ui.redirects import redirect_with_toast
from tickwell.ui.rendering import page
from tickwell.ui.visitor import Visitor, visit

router = APIRouter(include_in_schema=False)


@router.get("/settings")
async def account(request: Request, visitor: Visitor = visit(Permission.READ)) -> HTMLResponse:
    """Who one is, and what one may do."""
    return page(request, visitor, "settings/account.html", shortest=SHORTEST)


@router.post("/settings/password")
async def set_password(
    request: Request,
    current: Annotated[str, Form(max_length=1024)] = "",
    new: Annotated[str, Form(max_length=1024)] = "",
    visitor: Visitor = visit(Permission.READ),
) -> Response:
    """Set one's own password; all one's sessions end, this one too."""
    if visitor.user is None:
        raise NotFound("user", visitor.actor.name)
    await visitor.admin.users.set_password(visitor.actor, visitor.user, current, new)
    return redirect_with_toast(request, "Password set; log in with it", "/login?next=/settings")
