"""Health: for people, for probes, for load balancers."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from tickwell.api import health as documents
from tickwell.api.describe import described
from tickwell.api.models import other as models
from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission
from tickwell.services.redaction.store_address import store_name_for
from tickwell.web.context import context_of
from tickwell.web.json_response import answer
from tickwell.web.route_permission import allow_despite_outage, public

router = APIRouter(tags=["health"])


@router.get("/health", dependencies=[public()], **described("health", models.Probe))
async def health(request: Request) -> Response:
    """Whether this process works, and the level of what all projects share."""
    return await _verdict(request)


@router.get("/readyz", dependencies=[public()], **described("ready", models.Probe))
async def ready(request: Request) -> Response:
    """Whether requests should be sent here: as /health."""
    return await _verdict(request)


@router.get("/healthz", dependencies=[public()], **described("alive", models.Health))
async def alive() -> Response:
    """Whether this process answers at all; a restart helps if not."""
    return answer(documents.alive())


@router.get("/health/detailed", **described("health_details", models.HealthDetails))
async def details(
    request: Request, actor: Actor | None = allow_despite_outage(Permission.READ)
) -> Response:
    """Everything that was checked, and what to do; hosts and errors only to the platform."""
    context = context_of(request)
    if actor is None:
        return answer(documents.outage(await context.health.platform()), 503)
    found = await context.health.of(actor)
    status, body = documents.details(found, store_name_for(actor, context.store_name))
    return answer(body, status)


async def _verdict(request: Request) -> Response:
    status, body = documents.verdict(await context_of(request).health.platform())
    return answer(body, status)
