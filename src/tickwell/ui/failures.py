"""Errors as pages, with the words and the status that the API would answer with."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.responses import HTMLResponse
from starlette.exceptions import HTTPException

from tickwell.api import problems
from tickwell.api.problems import status_of
from tickwell.errors import Forbidden, TickwellError
from tickwell.ui.addresses import back, path_of
from tickwell.ui.answers import go
from tickwell.ui.rendering import HEADERS, render


async def on_stranger(request: Request, error: Exception) -> Response:
    """Ask who it is, and come back to where they wanted to go."""
    wanted = path_of(request)
    if request.url.query:
        wanted += f"?{request.url.query}"
    if request.method != "GET" or "hx-request" in request.headers:
        return _page(request, HTTPStatus.UNAUTHORIZED, _sentence(str(error)))
    return go(request, f"/login?next={quote(wanted)}")


async def on_error(request: Request, error: Exception) -> Response:
    """An error of ours says what to do in its own words."""
    if not isinstance(error, TickwellError):
        raise error
    if isinstance(error, Forbidden) and request.method == "GET" and path_of(request) == "/":
        # Whoever is in no project may be an admin of the platform.
        return go(request, "/settings/projects")
    return _page(request, status_of(error), _sentence(str(error)))


async def on_http(request: Request, error: Exception) -> Response:
    """No such page, or not by this method."""
    if path_of(request).startswith("/api/"):
        return await problems.on_http(request, error)  # whoever asked there reads JSON
    status = error.status_code if isinstance(error, HTTPException) else 500
    text = "There is no such page. The menu on the overview leads to all of them."
    return _page(request, status, text if status == HTTPStatus.NOT_FOUND else "Go back and retry.")


async def on_parameters(request: Request, _error: Exception) -> Response:
    """An address that somebody typed, or a form that is not ours."""
    text = "The address holds something that this page cannot use. Go back and try again."
    return _page(request, HTTPStatus.UNPROCESSABLE_ENTITY, text)


async def on_bug(request: Request, _error: Exception) -> Response:
    """Our mistake: the log has it under the request's id."""
    text = "Something went wrong on our side. The log has the details under this request."
    return _page(request, HTTPStatus.INTERNAL_SERVER_ERROR, text)


def _page(request: Request, status: int, text: str) -> Response:
    body = render(
        request,
        "problem.html",
        title=HTTPStatus(status).phrase,
        text=text,
        request_id=request.state.request_id,
        theme=request.cookies.get("theme", "system"),
        # A form is tried again where it was filled in.
        back=back(request) if request.method == "POST" else "",
    )
    return HTMLResponse(body, status, HEADERS)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
