"""Renders templates into pages, with the headers that keep browsers to our own files."""

from __future__ import annotations

from functools import cache
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from tickwell.ui import formatting
from tickwell.ui.redirects import clear_toast, mounted, path_of, pending_toast
from tickwell.ui.static_files import static_url
from tickwell.ui.visitor import Visitor
from tickwell.web.origin import origin_of, root_of

#: Scripts, styles and connections from here only; nothing inline.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
#: Of every page. Without a referrer browsers hide the origin of our own forms from us as well.
HEADERS = {"content-security-policy": POLICY, "referrer-policy": "same-origin"}


@cache
def environment() -> Environment:
    """All templates, compiled once."""
    found = Environment(
        loader=PackageLoader("tickwell.ui"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= formatting.FILTERS
    found.globals |= {"static": static_url, "LONGEST": formatting.LONGEST}
    return found


def render(request: Request, template: str, **values: Any) -> bytes:
    """A rendered page, with its links below the root of the dashboard."""
    root = root_of(request)
    location = {"root": root, "path": path_of(request), "origin": origin_of(request)}
    body = environment().get_template(template).render(location, **values)
    return mounted(body, root).encode(errors="replace")


def page(
    request: Request, visitor: Visitor, template: str, status: int = 200, **values: Any
) -> HTMLResponse:
    """A rendered page as a response, with the pending toast."""
    toast = pending_toast(request)
    body = render(request, template, visitor=visitor, now=visitor.now, toast=toast, **values)
    answer = HTMLResponse(body, status, HEADERS)
    if toast:
        clear_toast(request, answer)
    return answer
