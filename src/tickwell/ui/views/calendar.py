"""The calendar: how full each hour is, and where the clock changes."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from tickwell.errors import InvalidInput
from tickwell.services.access.actor import Permission
from tickwell.ui.formatting import local
from tickwell.ui.rendering import page
from tickwell.ui.svg.heatmap import days_of, heat_chart
from tickwell.ui.visitor import Visitor, visit

LENGTHS = {"week": 7, "month": 28}

router = APIRouter(include_in_schema=False)


@router.get("/calendar")
async def calendar(
    request: Request,
    *,
    length: str = "month",
    first: str = "",
    visitor: Visitor = visit(Permission.READ),
) -> HTMLResponse:
    """Last week and three to come, or any others."""
    count = LENGTHS.get(length, 28)
    begin = _day(first) if first else _monday(local(visitor.now, visitor.zone).date())
    if not first and count > LENGTHS["week"]:
        begin -= timedelta(days=LENGTHS["week"])
    days = days_of(begin, count, visitor.zone)
    ends = [
        int(datetime.combine(day, time(), visitor.zone).timestamp() * 1000)
        for day in (begin, begin + timedelta(days=count))
    ]
    found = await visitor.operations.insights.density(visitor.actor, *ends)
    return page(
        request,
        visitor,
        "calendar.html",
        chart=heat_chart(days, found, visitor.now, visitor.zone),
        changes=[day for day in days if day.change],
        found=found,
        lengths=LENGTHS,
        length=length if length in LENGTHS else "month",
        first=first,
        before=begin - timedelta(days=count),
        after=begin + timedelta(days=count),
        begin=begin,
        end=begin + timedelta(days=count - 1),
    )


def _day(text: str) -> date:
    try:
        found = date.fromisoformat(text)
    except ValueError:
        raise InvalidInput(f"{text[:20]!r} is not a date", field="first") from None
    if not 1990 <= found.year <= 2100:
        raise InvalidInput("must be between 1990 and 2100", field="first")
    return found


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())
