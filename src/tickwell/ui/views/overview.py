"""The first page."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from tickwell.domain.health import Health
from tickwell.services.access.permission import Permission
from tickwell.services.discretion import health_for
from tickwell.services.insights.overview import Overview
from tickwell.ui.formatting import ago
from tickwell.ui.rendering import page
from tickwell.ui.svg.bars import hourly_bars
from tickwell.ui.visitor import Visitor, visit

router = APIRouter(include_in_schema=False)


@router.get("/")
async def overview(request: Request, visitor: Visitor = visit(Permission.READ)) -> HTMLResponse:
    """Is all well, what is going on, what comes next, and what needs a person."""
    found = await visitor.operations.insights.overview(visitor.actor)
    health = health_for(visitor.actor, visitor.context.health())
    return page(
        request,
        visitor,
        "overview.html",
        found=found,
        health=health,
        sentence=_coming(found, health, visitor.now),
        chart=hourly_bars(found.hours, visitor.zone),
    )


def _coming(found: Overview, health: Health, now: int) -> str:
    """What is going on and what comes, in words."""
    parts = []
    if found.next_fires:
        soonest = found.next_fires[0]
        parts.append(f"Next to fire: {soonest.job}, {ago(soonest.instant, now)}.")
    if health.in_hand:
        parts.append(f"In hand here: {health.in_hand:,}.")
    return " ".join(parts)
