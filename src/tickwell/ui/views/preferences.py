"""How a visitor likes the pages: kept in a cookie, since it is theirs and no secret."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse

from tickwell.services.access.permission import Permission
from tickwell.ui.visitor import THEMES, Visitor, back, visit

YEAR = 365 * 86_400

router = APIRouter(include_in_schema=False)


@router.post("/preferences/theme")
async def choose_theme(
    request: Request,
    theme: Annotated[str, Form()],
    _visitor: Visitor = visit(Permission.READ),
) -> RedirectResponse:
    """Light, dark, or as the system has it."""
    answer = RedirectResponse(back(request), HTTPStatus.SEE_OTHER)
    if theme in THEMES:
        answer.set_cookie("theme", theme, max_age=YEAR, samesite="lax", path="/")
    return answer
