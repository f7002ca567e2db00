"""Limits of the project, and how long its history is kept."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from tickwell.domain.document.job import retention_to_document
from tickwell.services.access.actor import Permission
from tickwell.services.limits.quota import quota_to_document
from tickwell.ui.rendering import page
from tickwell.ui.visitor import Visitor, visit

#: Each limit in words.
WORDS = {
    "jobs": "jobs",
    "fires_per_day": "Fires per day, all jobs, on the busiest day",
    "fires_per_minute": "Fires per minute, all jobs, in the busiest minute",
    "requests_per_minute": "Requests per minute, all keys and users",
    "changes_per_minute": "Requests per minute that change something",
    "runs_per_minute": "Requested runs per minute",
    "running": "Running attempts, in all workers together",
    "payload": "Payload size in bytes",
}

router = APIRouter(include_in_schema=False)


@router.get("/settings/limits")
async def limits(request: Request, visitor: Visitor = visit(Permission.READ)) -> HTMLResponse:
    """What the project may have; a platform admin changes it under Projects."""
    found = await visitor.admin.limits.get(visitor.actor)
    retention = await visitor.admin.retentions.get(visitor.actor)
    return page(
        request,
        visitor,
        "settings/limits.html",
        limits=quota_to_document(found),
        words=WORDS,
        retention=retention_to_document(retention, whole=True),
    )
