"""What follows a change: back to a page that says what was done."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.responses import RedirectResponse

from tickwell.ui.visitor import back

#: Seconds that a sentence waits for the page that shows it.
BRIEFLY = 20


def done(request: Request, said: str, to: str | None = None) -> Response:
    """Go to a page, or stay on this one, and say what was done there."""
    answer = RedirectResponse(to or back(request), HTTPStatus.SEE_OTHER)
    answer.set_cookie("said", quote(said), max_age=BRIEFLY, samesite="lax", path="/")
    return answer
