"""Health probes, at the root of the server."""

from __future__ import annotations

import asyncio

from fastapi import Request, Response

from tickwell.api import health as documents
from tickwell.api.http.route import HttpGroup
from tickwell.errors import StoreUnavailable
from tickwell.services.access.actor import Actor, Permission
from tickwell.services.health import PATIENCE
from tickwell.services.operations.records import service as records
from tickwell.services.redaction.store_address import store_name_for
from tickwell.web.context import context_of
from tickwell.web.json_response import respond

GROUP = HttpGroup("health")


async def _despite_outage(request: Request) -> Actor | None:
    """The actor; None while keys cannot be checked, because the store does not answer."""
    context = context_of(request)
    # Before authentication, which would hang: a probe must answer before its timeout.
    if not (await context.health.platform()).database:
        return None
    try:
        async with asyncio.timeout(PATIENCE):
            actor = await context.authenticate(request)
    except TimeoutError as error:
        raise StoreUnavailable(f"no answer for {PATIENCE:g} s") from error
    actor.require(Permission.READ)
    return actor


@GROUP.get("/health", None, records.Probe, at_root=True)
async def health(request: Request, _actor: Actor | None) -> Response:
    """Whether this process works, and the level of what all projects share."""
    return await _verdict(request)


@GROUP.get("/readyz", None, records.Probe, at_root=True)
async def ready(request: Request, _actor: Actor | None) -> Response:
    """Whether this process should receive requests; the same as /health."""
    return await _verdict(request)


@GROUP.get("/healthz", None, records.Health, at_root=True)
async def alive(_request: Request, _actor: Actor | None) -> Response:
    """Whether this process answers at all; if not, restart it."""
    return respond(documents.alive())


@GROUP.get(
    "/health/detailed",
    Permission.READ,
    records.HealthDetails,
    at_root=True,
    guard=_despite_outage,
)
async def health_details(request: Request, actor: Actor | None) -> Response:
    """Everything that was checked, with remedies; hosts and errors only for platform admins."""
    context = context_of(request)
    if actor is None:
        return respond(documents.outage(await context.health.platform()), 503)
    found = await context.health.of(actor)
    status, body = documents.details(found, store_name_for(actor, context.store_name))
    return respond(body, status)


async def _verdict(request: Request) -> Response:
    status, body = documents.verdict(await context_of(request).health.platform())
    return respond(body, status)
