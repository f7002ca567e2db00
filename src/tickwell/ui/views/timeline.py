"""Past and future on one axis."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from tickwell.domain.policy import DAY, HOUR
from tickwell.services.access.actor import Permission
from tickwell.ui.rendering import page
from tickwell.ui.svg.lanes import lanes_chart
from tickwell.ui.visitor import Visitor, visit

SPANS = {"1h": HOUR, "6h": 6 * HOUR, "24h": DAY, "7d": 7 * DAY}
#: The part of the axis that lies before now.
PAST = 0.4

router = APIRouter(include_in_schema=False)


@router.get("/timeline")
async def timeline(
    request: Request,
    *,
    span: str = "6h",
    at: Annotated[int | None, Query(ge=0, lt=10**14)] = None,
    visitor: Visitor = visit(Permission.READ),
) -> HTMLResponse:
    """Around now, or around another instant; without one it moves along."""
    length = SPANS.get(span, 6 * HOUR)
    middle = visitor.now if at is None else at
    since = int(middle - PAST * length)
    found = await visitor.operations.insights.timeline(visitor.actor, since, since + length)
    return page(
        request,
        visitor,
        "timeline.html",
        found=found,
        chart=lanes_chart(found, visitor.zone),
        spans=SPANS,
        span=span if span in SPANS else "6h",
        at=at,
        before=middle - length // 2,
        after=middle + length // 2,
    )
