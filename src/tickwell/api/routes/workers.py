"""Workers."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from tickwell.api.describe import described
from tickwell.api.models import other as models
from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission
from tickwell.services.documents import worker_document
from tickwell.web.context import context_of
from tickwell.web.json_response import answer
from tickwell.web.route_permission import allow

router = APIRouter(tags=["workers"])


@router.get("/workers", **described("list_workers", models.Workers))
async def list_workers(request: Request, actor: Actor = allow(Permission.READ)) -> Response:
    """Every process that the store remembers, with its last beat."""
    context = context_of(request)
    found, now = await context.operations.workers.list(actor), context.clock.now()
    return answer({"items": [worker_document(each, now) for each in found], "next_cursor": None})


@router.get("/workers/{id}", **described("get_worker", models.Worker))
async def show(request: Request, id: str, actor: Actor = allow(Permission.READ)) -> Response:
    """One process, with its last beat."""
    context = context_of(request)
    found = await context.operations.workers.get(actor, id)
    return answer(worker_document(found, context.clock.now()))
