"""Monitors: jobs that others run, how they are, and their ping URLs, each shown once."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse

from tickwell.domain.trigger.duration import parse_duration
from tickwell.services.access.actor import Permission
from tickwell.services.monitors.definition import read_schedule
from tickwell.ui.rendering import page
from tickwell.ui.visitor import Visitor, visit
from tickwell.web.origin import origin_of

router = APIRouter(include_in_schema=False)
PATH = "/monitors"
#: Monitors of one page.
_PAGE = 100


@router.get(PATH)
async def monitors(
    request: Request,
    cursor: Annotated[str, Query(max_length=1000)] = "",
    visitor: Visitor = visit(Permission.READ),
) -> HTMLResponse:
    """How they are, by name."""
    return await _page(request, visitor, after=cursor)


@router.post(PATH)
async def create(
    request: Request,
    *,
    name: Annotated[str, Form(min_length=1, max_length=255)],
    schedule: Annotated[str, Form(min_length=1, max_length=255)],
    tz: Annotated[str, Form(max_length=255)] = "UTC",
    grace: Annotated[str, Form(max_length=64)] = "1h",
    visitor: Visitor = visit(Permission.EDIT),
) -> HTMLResponse:
    """Expect check-ins; the ping URL is on the page that answers."""
    made = await visitor.operations.monitors.create(
        visitor.actor,
        name.strip(),
        read_schedule(schedule.strip(), tz.strip() or "UTC"),
        grace=parse_duration(grace.strip(), field="grace"),
    )
    return await _page(request, visitor, made.token, made.monitor.entry.job.name)


@router.post(f"{PATH}/{{id}}/rotate")
async def rotate(
    request: Request, id: str, visitor: Visitor = visit(Permission.EDIT)
) -> HTMLResponse:
    """Give it another ping URL."""
    made = await visitor.operations.monitors.rotate(visitor.actor, id)
    return await _page(request, visitor, made.token, made.monitor.entry.job.name)


async def _page(
    request: Request, visitor: Visitor, token: str = "", name: str = "", *, after: str = ""
) -> HTMLResponse:
    found = await visitor.operations.monitors.list(visitor.actor, after or None, _PAGE)
    return page(
        request,
        visitor,
        "monitors.html",
        monitors=found.items,
        following=found.cursor,
        name=name,
        url=f"{origin_of(request)}/ping/{token}" if token else "",
    )
