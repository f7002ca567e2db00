"""One action on all jobs that match a filter."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from tickwell.api import values
from tickwell.api.describe import described
from tickwell.api.filters import job_filter
from tickwell.api.models import other as models
from tickwell.errors import InvalidInput
from tickwell.ports.records import JobFilter
from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission
from tickwell.services.operations.bulk import Bulk
from tickwell.web import bodies
from tickwell.web.context import context_of
from tickwell.web.idempotency import key_of
from tickwell.web.json_response import answer
from tickwell.web.route_permission import allow

router = APIRouter(tags=["bulk"])

_NAMES = 100
_EXAMPLE = {"filter": {"tag": "reports"}, "dry_run": True}


def _described(operation_id: str) -> dict[str, Any]:
    return described(
        operation_id,
        models.BulkDone,
        body=models.BulkBody,
        example=_EXAMPLE,
        body_required=True,
    )


@router.post("/bulk/pause", **_described("bulk_pause"))
async def pause(request: Request, actor: Actor = allow(Permission.OPERATE)) -> Response:
    """Pause all active jobs that match; `dry_run` only says which."""
    context = context_of(request)
    body = await bodies.read_bytes(request)

    async def act() -> Response:
        given, where, dry_run = _read(body, "note", "until")
        why = values.text(given.get("note"), "note")
        until = values.instant(given.get("until"), "until")
        done = await context.operations.bulk.pause(
            actor, where, dry_run=dry_run, why=why, until=until
        )
        return _answer(actor, done)

    return await context.idempotency.once(request, actor, body, act)


@router.post("/bulk/resume", **_described("bulk_resume"))
async def resume(request: Request, actor: Actor = allow(Permission.OPERATE)) -> Response:
    """Resume all paused jobs that match; `dry_run` only says which."""
    context = context_of(request)
    body = await bodies.read_bytes(request)

    async def act() -> Response:
        _, where, dry_run = _read(body)
        return _answer(actor, await context.operations.bulk.resume(actor, where, dry_run=dry_run))

    return await context.idempotency.once(request, actor, body, act)


@router.post("/bulk/trigger", **_described("bulk_trigger"))
async def trigger(request: Request, actor: Actor = allow(Permission.OPERATE)) -> Response:
    """Run all jobs that match once, now; `dry_run` only says which."""
    context = context_of(request)
    body = await bodies.read_bytes(request)

    async def act() -> Response:
        given, where, dry_run = _read(body, "payload")
        done = await context.operations.bulk.trigger(
            actor, where, dry_run=dry_run, payload=given.get("payload"), key=key_of(request)
        )
        return _answer(actor, done)

    return await context.idempotency.once(request, actor, body, act)


@router.post("/bulk/delete", **_described("bulk_delete"))
async def delete(request: Request, actor: Actor = allow(Permission.EDIT)) -> Response:
    """Delete all jobs that match; `dry_run` only says which."""
    context = context_of(request)
    body = await bodies.read_bytes(request)

    async def act() -> Response:
        _, where, dry_run = _read(body)
        return _answer(actor, await context.operations.bulk.delete(actor, where, dry_run=dry_run))

    return await context.idempotency.once(request, actor, body, act)


def _read(body: bytes, *more: str) -> tuple[dict[str, Any], JobFilter, bool]:
    given = bodies.object_of(body, "filter", "dry_run", *more)
    if "filter" not in given:
        # An empty filter means every job; leaving it out is more likely a slip.
        raise InvalidInput("is missing", field="filter", hint='{"filter": {}} means all jobs')
    where, known = given["filter"], ("states", "queue", "tag", "app", "search")
    if not isinstance(where, dict):
        raise InvalidInput("is not an object", field="filter")
    for name in where:
        if name not in known:
            raise InvalidInput(
                "is not a known field", field=f"filter.{name}", hint=f"Known are {', '.join(known)}"
            )
    states = where.get("states")
    if states is not None and not isinstance(states, list):
        raise InvalidInput("is not a list", field="filter.states")
    fields = {name: value for name, value in where.items() if name != "states"}
    chosen = job_filter(fields, states, at="filter.")
    return given, chosen, values.flag(given.get("dry_run"), "dry_run")


def _answer(actor: Actor, done: Bulk) -> Response:
    """How many, and for an actor who may read jobs, which."""
    shown = _NAMES if Permission.READ in actor.permissions else 0
    return answer(
        {
            "dry_run": done.dry_run,
            "matched": len(done.matched),
            "changed": done.changed,
            "names": done.matched[:shown],
            "refused": dict(list(done.refused.items())[:shown]),
            "more": done.more,
        }
    )
