"""Metrics of the last minutes."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from tickwell.api.describe import described
from tickwell.api.models import observability as models
from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission
from tickwell.services.documents import metrics_document
from tickwell.web.context import context_of
from tickwell.web.json_response import answer
from tickwell.web.route_permission import allow

router = APIRouter(tags=["observability"])


@router.get("/observability/metrics", **described("get_metrics", models.Metrics))
async def metrics(
    request: Request,
    *,
    queue: Annotated[str | None, Query(max_length=255, description="Only this queue.")] = None,
    job: Annotated[
        str | None, Query(max_length=255, description="Only this job, by name or id.")
    ] = None,
    all_projects: Annotated[
        bool, Query(description="All projects together, which needs platform.")
    ] = False,
    actor: Actor = allow(Permission.READ),
) -> Response:
    """Rates and errors over 1, 5 and 15 minutes, and percentiles of the last 15 minutes."""
    found = await context_of(request).operations.insights.metrics(
        actor, queue=queue, job=job, all_projects=all_projects
    )
    return answer(metrics_document(found))
