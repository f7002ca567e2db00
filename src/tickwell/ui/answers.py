"""What follows a change: back to a page that says what was done."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import quote, unquote

from fastapi import Request, Response
from fastapi.responses import RedirectResponse

from tickwell.ui.addresses import back
from tickwell.web.cookies import own_name
from tickwell.web.origin import root_of

#: Seconds that a sentence waits for the page that shows it.
BRIEFLY = 20


def go(request: Request, to: str) -> RedirectResponse:
    """On to one of our pages, by its path from the root."""
    return RedirectResponse(root_of(request) + to, HTTPStatus.SEE_OTHER)


def done(
    request: Request, said: str, to: str | None = None, *, undo: str | None = None
) -> Response:
    """Go to a page, or stay on this one, and say what was done there; `undo` takes it back."""
    answer = go(request, to or back(request))
    for name, value in (("said", said), ("undo", undo)):
        if value:
            answer.set_cookie(
                own_name(request, name),
                quote(value),
                max_age=BRIEFLY,
                samesite="lax",
                path="/",
                httponly=True,
            )
    return answer


def told(request: Request) -> dict[str, str]:
    """What is to be said on this page of what was done; a part of a page leaves it to a whole."""
    if "hx-request" in request.headers:
        return {}
    known = {
        name: unquote(request.cookies.get(own_name(request, name), "")) for name in ("said", "undo")
    }
    return known if known["said"] else {}


def forget(request: Request, answer: Response) -> None:
    """It has been said."""
    for name in ("said", "undo"):
        answer.delete_cookie(own_name(request, name), path="/")
