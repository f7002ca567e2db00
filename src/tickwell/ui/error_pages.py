"""Errors as pages: what happened in plain words, and what was typed is not lost."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse
from starlette.exceptions import HTTPException

from tickwell.errors import Forbidden, StoreError, TickwellError
from tickwell.ui.form_parse import submitted_form
from tickwell.ui.formatting import sentence
from tickwell.ui.redirects import back, path_of, redirect
from tickwell.ui.rendering import HEADERS, render
from tickwell.web import problems
from tickwell.web.problems import status_of
from tickwell.web.same_origin import ForeignPage, OldPage

#: What happened, by the status that the API would answer with.
_TITLES = {
    400: "Bad request",
    401: "You are logged out",
    403: "Permission denied",
    404: "Not found",
    405: "Method not allowed",
    409: "Conflict",
    412: "Changed in the meantime",
    413: "Request too large",
    421: "Wrong host name",
    422: "Invalid input",
    429: "Too many requests",
    500: "Internal error",
    503: "The store does not answer",
}
_UNCHANGED = "Nothing was changed."
_RETRY = "Nothing is lost. Try again in a moment. An admin finds the cause with: tickwell doctor"


async def on_unauthenticated(request: Request, error: Exception) -> Response:
    """Ask who it is, and come back to where they wanted to go."""
    wanted = path_of(request)
    if request.url.query:
        wanted += f"?{request.url.query}"
    if isinstance(error, OldPage | ForeignPage):
        old = isinstance(error, OldPage)
        title = "You have logged in again" if old else "Request from another site"
        return await _page(request, 401, _sentence(str(error)), error, title=title)
    if request.method != "GET":
        text = f"{_UNCHANGED} Log in again, then repeat what you did."
        return await _page(request, 401, text, error, login=f"/login?next={quote(back(request))}")
    is_stream = request.headers.get("accept") == "text/event-stream"
    if is_stream or "hx-request" in request.headers:
        return await _page(request, 401, _sentence(str(error)))
    return redirect(request, f"/login?next={quote(wanted)}")


async def on_error(request: Request, error: Exception) -> Response:
    """An error of ours says what to do in its own words."""
    if not isinstance(error, TickwellError):
        raise error
    if isinstance(error, Forbidden) and request.method == "GET" and path_of(request) == "/":
        # A user without a project may be a platform admin.
        return redirect(request, "/settings/projects")
    if isinstance(error, StoreError):
        # What a driver says may name hosts, and who asks cannot be told from a stranger now.
        return await _page(request, status_of(error), _RETRY, error)
    return await _page(request, status_of(error), _sentence(str(error)), error)


async def on_http(request: Request, error: Exception) -> Response:
    """No such page, or not by this method."""
    if path_of(request).startswith("/api/"):
        return await problems.on_http(request, error)  # API clients read JSON
    status = error.status_code if isinstance(error, HTTPException) else 500
    if status == HTTPStatus.NOT_FOUND:
        text = "Use the menu to find the page you need."
        return await _page(request, status, text, title="Page not found")
    return await _page(request, status, "Go back and retry.")


async def on_parameters(request: Request, error: Exception) -> Response:
    """An address that somebody typed, or a form with too much in it."""
    if request.method == "GET":
        text = "The URL contains an invalid value. Go back and try again."
        return await _page(request, 422, text)
    found = error.errors() if isinstance(error, RequestValidationError) else []
    told = "; ".join(f"{each['loc'][-1]}: {each['msg']}" for each in found[:3])
    return await _page(request, 422, f"{_UNCHANGED} {_sentence(told)}".strip(), error)


async def on_bug(request: Request, _error: Exception) -> Response:
    """Our mistake: the log has it under the request's id."""
    return await _page(request, 500, "The service log has the details under this request id.")


async def _page(
    request: Request,
    status: int,
    text: str,
    error: Exception | None = None,
    *,
    title: str = "",
    login: str = "",
) -> Response:
    """With the form that was sent, if the error is about what is in it."""
    form = None if error is None else await submitted_form(request)
    body = render(
        request,
        "problem.html",
        title=title or _TITLES.get(status, "Request failed"),
        text=text,
        form=form,
        wrong=form.wrong(error) if form and error else None,
        login=login,
        request_id=request.state.request_id,
        theme=request.cookies.get("theme", "system"),
        # A form is tried again where it was filled in.
        back=back(request) if request.method == "POST" else "",
    )
    return HTMLResponse(body, status, HEADERS)


def _sentence(text: str) -> str:
    return sentence(text) + ("" if text.endswith((".", "!", "?")) else ".")
