"""Health: for people, for probes, for load balancers."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from tickwell.api import health as documents
from tickwell.api.answers import answer
from tickwell.api.context import context_of
from tickwell.api.describe import described
from tickwell.api.models import other as models
from tickwell.api.security import allow, public
from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission
from tickwell.services.discretion import health_for, store_name_for

router = APIRouter(tags=["health"])


@router.get("/health", dependencies=[public()], **described("health", models.Health))
async def health(request: Request) -> Response:
    """Whether the engine of this process works and the store answers."""
    return await _verdict(request)


@router.get("/readyz", dependencies=[public()], **described("ready", models.Health))
async def ready(request: Request) -> Response:
    """Whether requests should be sent here: as /health."""
    return await _verdict(request)


@router.get("/healthz", dependencies=[public()], **described("alive", models.Health))
async def alive() -> Response:
    """Whether this process answers at all; a restart helps if not."""
    return answer(documents.verdict(ok=True))


@router.get("/health/detailed", **described("health_details", models.HealthDetails))
async def details(request: Request, actor: Actor = allow(Permission.READ)) -> Response:
    """How the service is, part by part; where its store is and why it fails, to the platform."""
    context = context_of(request)
    engine, connected = health_for(actor, context.health()), await context.store_answers()
    name = store_name_for(actor, context.store_name)
    status = 200 if engine.ok and connected else 503
    return answer(documents.details(engine, name, connected=connected), status)


async def _verdict(request: Request) -> Response:
    context = context_of(request)
    ok = context.health().ok and await context.store_answers()
    return answer(documents.verdict(ok=ok), 200 if ok else 503)
