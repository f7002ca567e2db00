"""The first page."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from tickwell.domain.health import Finding, ProcessHealth
from tickwell.domain.tally import HOURS
from tickwell.services.access.actor import Permission
from tickwell.services.insights.overview import Overview
from tickwell.ui.formatting import when_due
from tickwell.ui.rendering import page
from tickwell.ui.svg.bars import ended_bars
from tickwell.ui.views.maintenance import windows_on
from tickwell.ui.views.pauses import shown_pauses
from tickwell.ui.visitor import Visitor, visit

router = APIRouter(include_in_schema=False)


@router.get("/")
async def overview(request: Request, visitor: Visitor = visit(Permission.READ)) -> HTMLResponse:
    """Is all well, what is going on, what comes next, and what needs a person."""
    found = await visitor.operations.insights.overview(visitor.actor)
    health = await visitor.context.health.of(visitor.actor)
    return page(
        request,
        visitor,
        "overview.html",
        found=found,
        health=health,
        troubles=[each for each in health.troubles if not _has_banner(each, visitor)],
        sentence=_coming(found, health.process, visitor.now),
        held=await visitor.operations.backlogs.summary(visitor.actor),
        **await shown_pauses(visitor),
        maintenance=await windows_on(visitor),
        chart=ended_bars(found.hours, HOURS, visitor.zone),
    )


def _has_banner(finding: Finding, visitor: Visitor) -> bool:
    """Whether it is a pause that the project is under."""
    return finding.check == "paused_platform" or (
        finding.check == "paused_project"
        and finding.text.startswith(f"project {visitor.actor.project} is")
    )


def _coming(found: Overview, process: ProcessHealth | None, now: int) -> str:
    """What is going on and what comes, in words."""
    parts = []
    if found.next_fires:
        soonest = found.next_fires[0]
        when = when_due(soonest.instant, now)
        parts.append(f"Next to fire: {soonest.job}, {when}.")
    if process is not None and process.in_hand:
        parts.append(f"Attempts held by this process: {process.in_hand:,}.")
    return " ".join(parts)
