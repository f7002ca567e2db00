"""Queues."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter, Request, Response

from tickwell.api import values
from tickwell.api.describe import described
from tickwell.api.models import other as models
from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission
from tickwell.services.documents import queue_document
from tickwell.web import bodies
from tickwell.web.context import context_of
from tickwell.web.json_response import answer
from tickwell.web.route_permission import allow

router = APIRouter(tags=["queues"])


@router.get("/queues", **described("list_queues", models.Queues))
async def list_queues(request: Request, actor: Actor = allow(Permission.READ)) -> Response:
    """Queues with the project's live executions by state, their workers and their pauses."""
    return await _queues(request, actor)


@router.post(
    "/queues/{name}/pause",
    **described("pause_queue", models.Queues, body=models.Note, example={"note": "moving"}),
)
async def pause(request: Request, name: str, actor: Actor = allow(Permission.PLATFORM)) -> Response:
    """Let workers claim nothing from it, for all projects; what is running ends."""
    context = context_of(request)
    body = await bodies.read_bytes(request)

    async def act() -> Response:
        why = values.text(bodies.object_of(body, "note").get("note"), "note")
        await context.operations.queues.pause(actor, name, why=why)
        return await _queues(request, _reader(actor))

    return await context.idempotency.once(request, actor, body, act)


@router.post("/queues/{name}/resume", **described("resume_queue", models.Queues))
async def resume(
    request: Request, name: str, actor: Actor = allow(Permission.PLATFORM)
) -> Response:
    """Let workers claim from it again."""
    context = context_of(request)
    body = await bodies.read_bytes(request)

    async def act() -> Response:
        bodies.object_of(body)
        await context.operations.queues.resume(actor, name)
        return await _queues(request, _reader(actor))

    return await context.idempotency.once(request, actor, body, act)


async def _queues(request: Request, actor: Actor) -> Response:
    found = await context_of(request).operations.queues.list(actor)
    return answer({"items": [queue_document(queue) for queue in found]})


def _reader(actor: Actor) -> Actor:
    """Who may pause queues for all projects sees them, member of a project or not."""
    return replace(actor, permissions=actor.permissions | {Permission.READ})
