"""Calendars that triggers name: their days, and the jobs that follow a change."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse

from tickwell.services.access.actor import Permission
from tickwell.services.calendars.calendars import Saved
from tickwell.ui.redirects import redirect_with_toast
from tickwell.ui.rendering import page
from tickwell.ui.visitor import Visitor, visit

PATH = "/settings/calendars"
Name = Annotated[str, Form(max_length=100)]
Code = Annotated[str, Form(max_length=20)]
#: Separated by commas, blanks or lines; FROM/TO is a range.
Days = Annotated[str, Form(max_length=100_000)]

router = APIRouter(include_in_schema=False)


@router.get(PATH)
async def calendars(request: Request, visitor: Visitor = visit(Permission.READ)) -> HTMLResponse:
    """All of them, with the last day that each has."""
    found = await visitor.operations.calendars.list(visitor.actor)
    return page(request, visitor, "settings/calendars.html", calendars=found)


@router.post(PATH)
async def put(
    request: Request,
    *,
    name: Name,
    days: Days = "",
    country: Code = "",
    subdivision: Code = "",
    visitor: Visitor = visit(Permission.EDIT),
) -> Response:
    """Add a calendar, or replace its days; the jobs that use it follow at once."""
    given = days.replace(",", " ").split()
    saved = await visitor.operations.calendars.put(
        visitor.actor,
        name,
        dates=[each for each in given if "/" not in each],
        ranges=[(each.partition("/")[0], each.partition("/")[2]) for each in given if "/" in each],
        country=country.strip().upper() or None,
        subdivision=subdivision.strip().upper() or None,
    )
    return redirect_with_toast(request, _in_words(saved), PATH)


@router.post(f"{PATH}/renew")
async def renew(
    request: Request, name: Name, visitor: Visitor = visit(Permission.EDIT)
) -> Response:
    """Compute the public holidays of a calendar again, by the package as it is now."""
    saved = await visitor.operations.calendars.renew(visitor.actor, name)
    return redirect_with_toast(request, _in_words(saved), PATH)


@router.post(f"{PATH}/delete")
async def delete(
    request: Request, name: Name, visitor: Visitor = visit(Permission.EDIT)
) -> Response:
    """Delete a calendar that no job uses."""
    await visitor.operations.calendars.delete(visitor.actor, name)
    return redirect_with_toast(request, f"Deleted {name}", PATH)


def _in_words(saved: Saved) -> str:
    calendar, jobs = saved.calendar, saved.jobs
    text = f"Saved {calendar.name}, version {calendar.version}; "
    text += "1 job follows it" if jobs == 1 else f"{jobs} jobs follow it"
    if saved.refused:
        text += f". These keep the former days: {', '.join(sorted(saved.refused))}"
    return text
