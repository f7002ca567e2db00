"""Pages: templates with their filters, and the headers that keep a browser to our own files."""

from __future__ import annotations

from functools import cache
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from tickwell.ui import formatting
from tickwell.ui.addresses import moved, path_of
from tickwell.ui.answers import forget, told
from tickwell.ui.files import static_url
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
    """A page as it is sent: its addresses are below the root of the dashboard."""
    root = root_of(request)
    place = {"root": root, "path": path_of(request), "origin": origin_of(request)}
    body = environment().get_template(template).render(place, **values)
    return moved(body, root).encode(errors="replace")


def page(
    request: Request, visitor: Visitor, template: str, status: int = 200, **values: Any
) -> HTMLResponse:
    """A whole page, or the part of it that a template is."""
    said = told(request)
    body = render(request, template, visitor=visitor, now=visitor.now, told=said, **values)
    answer = HTMLResponse(body, status, HEADERS)
    if said:
        forget(request, answer)
    return answer
