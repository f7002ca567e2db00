"""Limits of the project, and how long its history is kept."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from tickwell.domain.document.job import retention_to_document
from tickwell.services.access.permission import Permission
from tickwell.services.limits.quota import quota_to_document
from tickwell.ui.rendering import page
from tickwell.ui.visitor import Visitor, visit

#: Each limit in words.
WORDS = {
    "jobs": "jobs",
    "fires_per_day": "fires of all jobs together on their busiest day",
    "fires_per_minute": "fires of all jobs together in their busiest minute",
    "requests_per_minute": "requests in a minute, by all keys and users together",
    "runs_per_minute": "runs requested in a minute",
    "running": "attempts under way at once",
    "payload": "bytes of a payload",
}

router = APIRouter(include_in_schema=False)


@router.get("/settings/limits")
async def limits(request: Request, visitor: Visitor = visit(Permission.READ)) -> HTMLResponse:
    """What the project may have; a platform admin changes it under Projects."""
    found = await visitor.administration.limits.get(visitor.actor)
    kept = await visitor.administration.retentions.get(visitor.actor)
    return page(
        request,
        visitor,
        "settings/limits.html",
        limits=quota_to_document(found),
        words=WORDS,
        retention=retention_to_document(kept, whole=True),
    )
