"""Metrics, for Prometheus and for people."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends, Request, Response

from tickwell.api.describe import described
from tickwell.api.metrics import TEXT_PATH, content_for, is_let_in
from tickwell.api.models import other as models
from tickwell.errors import NotFound
from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission
from tickwell.web.context import context_of

router = APIRouter(tags=["health"])


def _scraper() -> Any:
    """Accept the metrics token, callers on this machine, or an actor with `read`."""

    async def scraper(request: Request) -> Actor | None:
        context = context_of(request)
        if is_let_in(request.scope, context.settings):
            return None
        actor = await context.authenticate(request)
        actor.require(Permission.READ)
        return actor

    scraper.permission = Permission.READ.value  # type: ignore[attr-defined]
    return Depends(scraper, use_cache=False)


@router.get("/metrics", **described("scrape_metrics", models.MetricsSummary))
async def metrics(request: Request, actor: Actor | None = _scraper()) -> Response:
    """Counters and gauges: Prometheus or OpenMetrics text if accepted, otherwise JSON.

    All of it for platform admins, the metrics token and this machine; a project's own for its keys.
    """
    return await _answer(request, actor)


@router.get(TEXT_PATH, include_in_schema=False)
async def text(request: Request, actor: Actor | None = _scraper()) -> Response:
    """The same as text, whatever is accepted."""
    return await _answer(request, actor)


async def _answer(request: Request, actor: Actor | None) -> Response:
    shown = context_of(request).metrics
    if shown is None:
        raise NotFound("page", "/metrics")
    sees_all = actor is None or Permission.PLATFORM in actor.permissions
    project = None if sees_all or actor is None else actor.project
    accept = request.headers.get("accept", "")
    body, headers = await content_for(shown, request.url.path, accept, project)
    return Response(body, headers=headers)
