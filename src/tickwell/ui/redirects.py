"""Paths of pages, and redirects with a toast that the next page shows."""

from __future__ import annotations

import re
from http import HTTPStatus
from urllib.parse import quote, unquote, urlsplit

from fastapi import Request, Response
from fastapi.responses import RedirectResponse

from tickwell.web.cookies import own_name
from tickwell.web.origin import root_of

#: Attributes that hold a path of the dashboard. Quotes in user input are escaped.
_LINK = re.compile(r'(\s(?:href|src|action|formaction|hx-get|hx-post)=")/')


def path_of(request: Request) -> str:
    """The path of the request, from the root of the dashboard."""
    return request.url.path.removeprefix(root_of(request))


def mounted(html: str, root: str) -> str:
    """The page with its links below the path that the dashboard is mounted at."""
    return _LINK.sub(rf"\g<1>{root}/", html) if root else html


def back(request: Request) -> str:
    """The page that submitted the form, from the root; never another site."""
    try:
        came_from = urlsplit(request.headers.get("referer", ""))
    except ValueError:
        return "/"
    first = f"{root_of(request)}/"
    if came_from.netloc != request.url.netloc or not came_from.path.startswith(first):
        return "/"
    path = "/" + came_from.path.removeprefix(first).lstrip("/")
    return f"{path}?{came_from.query}" if came_from.query else path


#: Seconds that a toast waits in its cookie for the page that shows it.
TOAST_LIFE = 20
_TOAST, _UNDO = "toast", "undo"


def redirect(request: Request, to: str) -> RedirectResponse:
    """On to a page of the dashboard, by its path from the root."""
    return RedirectResponse(root_of(request) + to, HTTPStatus.SEE_OTHER)


def redirect_with_toast(
    request: Request, message: str, to: str | None = None, *, undo: str | None = None
) -> Response:
    """On to a page, or back to the form's page, with a toast; `undo` adds its Undo button."""
    answer = redirect(request, to or back(request))
    for name, value in ((_TOAST, message), (_UNDO, undo)):
        if value:
            answer.set_cookie(
                own_name(request, name),
                quote(value),
                max_age=TOAST_LIFE,
                samesite="lax",
                path="/",
                httponly=True,
            )
    return answer


def pending_toast(request: Request) -> dict[str, str]:
    """The toast to show on this page: `message` and `undo`. Empty for a partial page update."""
    if "hx-request" in request.headers:
        return {}
    message, undo = (
        unquote(request.cookies.get(own_name(request, name), "")) for name in (_TOAST, _UNDO)
    )
    return {"message": message, "undo": undo} if message else {}


def clear_toast(request: Request, answer: Response) -> None:
    """Drop the toast once a page shows it."""
    for name in (_TOAST, _UNDO):
        answer.delete_cookie(own_name(request, name), path="/")
