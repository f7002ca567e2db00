"""Logging in and out of the dashboard."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import HTMLResponse

from tickwell.errors import LimitReached, Unauthenticated
from tickwell.ui.redirects import clear_toast, pending_toast, redirect
from tickwell.ui.rendering import HEADERS, render
from tickwell.ui.visitor import theme_of
from tickwell.web.authentication import asker_of, project_cookie, public
from tickwell.web.context import administration_of, context_of
from tickwell.web.cookies import drop_session, session_of, set_session
from tickwell.web.problems import status_of
from tickwell.web.same_origin import require_own_site

router = APIRouter(include_in_schema=False)


@router.get("/login", dependencies=[public()])
async def show(
    request: Request,
    link: Annotated[str, Query(max_length=200)] = "",
    next: Annotated[str, Query(max_length=2000)] = "/",
) -> Response:
    """The form. A link is used by its button: what only looks at it does not use it up."""
    if not context_of(request).settings.auth:
        return redirect(request, "/")
    return form(request, link, next)


@router.post("/login", dependencies=[public()])
async def log_in(
    request: Request,
    name: Annotated[str, Form(max_length=200)] = "",
    password: Annotated[str, Form(max_length=1024)] = "",
    link: Annotated[str, Form(max_length=200)] = "",
    next: Annotated[str, Form(max_length=2000)] = "/",
) -> Response:
    """A new session, then on to the page that was wanted."""
    require_own_site(request)
    logins = administration_of(request).logins
    asker, old = asker_of(request), session_of(request)
    try:
        if link:
            id = await logins.by_link(link, asker=asker, old=old)
        else:
            id = await logins.by_password(name, password, asker=asker, old=old)
    except (Unauthenticated, LimitReached) as error:
        return form(request, "", next, str(error), status_of(error))
    answer = redirect(request, inside(next))
    set_session(request, answer, id)
    return answer


@router.post("/logout", dependencies=[public()])
async def log_out(request: Request) -> Response:
    """End the session; users without any role can do that too."""
    id = session_of(request)
    if id:
        await context_of(request).visit(request)
        await administration_of(request).logins.log_out(id, asker=asker_of(request))
    answer = redirect(request, "/login")
    drop_session(request, answer)
    answer.delete_cookie(project_cookie(request), path="/")
    return answer


def form(
    request: Request, link: str, wanted: str, problem: str = "", status: int = 200
) -> Response:
    """The page that asks who it is, with what went wrong before."""
    toast = pending_toast(request)
    oidc = administration_of(request).oidc
    body = render(
        request,
        "login.html",
        theme=theme_of(request),
        link=link,
        next=inside(wanted),
        problem=problem,
        toast=toast.get("message", ""),
        oidc=None if oidc is None else oidc.provider.name,
    )
    answer = HTMLResponse(body, status, HEADERS)
    if toast:
        clear_toast(request, answer)
    return answer


def inside(wanted: str) -> str:
    """A page of ours, whatever the address says."""
    good = wanted.startswith("/") and not wanted.startswith(("//", "/\\"))
    return wanted if good and wanted.isprintable() else "/"
