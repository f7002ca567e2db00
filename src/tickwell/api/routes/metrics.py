"""`/metrics`, at the root of the server."""

from __future__ import annotations

from fastapi import Request, Response

from tickwell.api.http.route import HttpGroup
from tickwell.api.metrics import TEXT_PATH, content_for, is_let_in
from tickwell.errors import NotFound
from tickwell.services.access.actor import Actor, Permission
from tickwell.services.operations.records import service as records
from tickwell.web.context import context_of

GROUP = HttpGroup("metrics")


async def _scraper(request: Request) -> Actor | None:
    """Accept the metrics token, callers on this machine, or an actor with `read`."""
    context = context_of(request)
    if is_let_in(request.scope, context.settings):
        return None
    actor = await context.authenticate(request)
    actor.require(Permission.READ)
    return actor


@GROUP.get(
    "/metrics",
    Permission.READ,
    records.MetricsSummary,
    at_root=True,
    guard=_scraper,
    in_clients=False,
)
async def scrape_metrics(request: Request, actor: Actor | None) -> Response:
    """Counters and gauges: Prometheus or OpenMetrics text if accepted, otherwise JSON.

    Platform admins, the metrics token and this machine see all; a key sees its own project.
    """
    return await _answer(request, actor)


@GROUP.get(
    TEXT_PATH,
    Permission.READ,
    records.MetricsSummary,
    at_root=True,
    guard=_scraper,
    in_clients=False,
    is_described=False,
)
async def scrape_metrics_text(request: Request, actor: Actor | None) -> Response:
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
