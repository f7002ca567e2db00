"""How a visitor likes the pages, and which project: kept in cookies, since they are no secrets."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse

from tickwell.errors import NotFound
from tickwell.services.access.actor import Permission
from tickwell.ui.redirects import back, redirect
from tickwell.ui.visitor import THEMES, Visitor, visit
from tickwell.web.authentication import project_cookie

YEAR = 365 * 86_400

router = APIRouter(include_in_schema=False)


@router.post("/preferences/theme")
async def choose_theme(
    request: Request,
    theme: Annotated[str, Form()],
    _visitor: Visitor = visit(Permission.READ),
) -> RedirectResponse:
    """Light, dark, or as the system has it."""
    answer = redirect(request, back(request))
    if theme in THEMES:
        answer.set_cookie("theme", theme, max_age=YEAR, samesite="lax", path="/")
    return answer


@router.post("/preferences/project")
async def choose_project(
    request: Request,
    project: Annotated[str, Form(max_length=63)],
    visitor: Visitor = visit(Permission.READ),
) -> RedirectResponse:
    """Another project; its own pages are of no use in it, so the first one is shown."""
    if project not in visitor.projects:
        raise NotFound("project", project)
    answer = redirect(request, "/")
    name = project_cookie(request)
    answer.set_cookie(name, project, max_age=YEAR, samesite="lax", path="/", httponly=True)
    return answer
