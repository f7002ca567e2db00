"""The API reference, made from the OpenAPI document; readable without a login."""

from __future__ import annotations

from functools import cache

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from tickwell.errors import Unauthenticated
from tickwell.ui.reference import read_reference
from tickwell.ui.rendering import HEADERS, environment, page, render
from tickwell.ui.visitor import Visitor, theme_of, visitor_of
from tickwell.web.authentication import public
from tickwell.web.context import Describe, context_of
from tickwell.web.cookies import session_of

router = APIRouter(include_in_schema=False)


@router.get("/docs", dependencies=[public()])
async def reference(request: Request) -> HTMLResponse:
    """Every operation and record, with a form for each operation."""
    contents = _contents(context_of(request).describe)
    visitor = await _visitor(request)
    if visitor is not None:
        return page(request, visitor, "reference.html", frame="base.html", contents=contents)
    body = render(
        request,
        "reference.html",
        frame="reference_frame.html",
        contents=contents,
        theme=theme_of(request),
        visitor=None,
    )
    return HTMLResponse(body, headers=HEADERS)


async def _visitor(request: Request) -> Visitor | None:
    """Without a session nothing is looked up: the page is there while the store is away."""
    if context_of(request).settings.auth and session_of(request) is None:
        return None
    try:
        return await visitor_of(request)
    except Unauthenticated:
        return None


@cache
def _contents(describe: Describe) -> Markup:
    """The same for every visitor: rendered once."""
    found = read_reference(describe())
    template = environment().get_template("reference_contents.html")
    return Markup(template.render(reference=found))  # noqa: S704 - escaped by the template
