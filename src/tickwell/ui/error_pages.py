"""Errors as pages: what happened in plain words, and what was typed is not lost."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse
from starlette.exceptions import HTTPException

from tickwell.errors import Forbidden, TickwellError
from tickwell.ui.form_replay import submitted_form
from tickwell.ui.formatting import sentence
from tickwell.ui.paths import back, path_of
from tickwell.ui.redirects import redirect
from tickwell.ui.rendering import HEADERS, render
from tickwell.web import problems
from tickwell.web.problems import status_of
from tickwell.web.same_origin import ForeignPage, OldPage

#: What happened, by the status that the API would answer with.
_TITLES = {
    400: "That could not be read",
    401: "You are logged out",
    403: "You may not do this",
    404: "It does not exist",
    405: "That cannot be done here",
    409: "That does not fit what is there",
    412: "Somebody else was faster",
    413: "That is too large",
    421: "This service has another name",
    422: "Something needs another look",
    429: "That was too much at once",
    500: "Something went wrong on our side",
    503: "The store does not answer",
}
_UNCHANGED = "Nothing was changed."


async def on_unauthenticated(request: Request, error: Exception) -> Response:
    """Ask who it is, and come back to where they wanted to go."""
    wanted = path_of(request)
    if request.url.query:
        wanted += f"?{request.url.query}"
    if isinstance(error, OldPage | ForeignPage):
        old = isinstance(error, OldPage)
        title = "You have logged in anew" if old else "That came from elsewhere"
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
        # Whoever is in no project may be an admin of the platform.
        return redirect(request, "/settings/projects")
    return await _page(request, status_of(error), _sentence(str(error)), error)


async def on_http(request: Request, error: Exception) -> Response:
    """No such page, or not by this method."""
    if path_of(request).startswith("/api/"):
        return await problems.on_http(request, error)  # whoever asked there reads JSON
    status = error.status_code if isinstance(error, HTTPException) else 500
    if status == HTTPStatus.NOT_FOUND:
        text = "The menu on the overview leads to all that there are."
        return await _page(request, status, text, title="There is no such page")
    return await _page(request, status, "Go back and retry.")


async def on_parameters(request: Request, error: Exception) -> Response:
    """An address that somebody typed, or a form with too much in it."""
    if request.method == "GET":
        text = "The address holds something that this page cannot use. Go back and try again."
        return await _page(request, 422, text)
    found = error.errors() if isinstance(error, RequestValidationError) else []
    told = "; ".join(f"{each['loc'][-1]}: {each['msg']}" for each in found[:3])
    return await _page(request, 422, f"{_UNCHANGED} {_sentence(told)}".strip(), error)


async def on_bug(request: Request, _error: Exception) -> Response:
    """Our mistake: the log has it under the request's id."""
    return await _page(request, 500, "The log has the details under this request.")


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
        title=title or _TITLES.get(status, "That did not work"),
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
