"""Workers."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from tickwell.api.answers import answer
from tickwell.api.context import context_of
from tickwell.api.describe import described
from tickwell.api.models import other as models
from tickwell.api.security import allow
from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission
from tickwell.services.documents import worker_document

router = APIRouter(tags=["workers"])


@router.get("/workers", **described("list_workers", models.Workers))
async def list_workers(request: Request, actor: Actor = allow(Permission.READ)) -> Response:
    """Every worker that the store remembers, with its last beat."""
    found = await context_of(request).operations.workers.list(actor)
    return answer({"items": [worker_document(each) for each in found], "next_cursor": None})


@router.get("/workers/{id}", **described("get_worker", models.Worker))
async def show(request: Request, id: str, actor: Actor = allow(Permission.READ)) -> Response:
    """One worker, with its last beat."""
    return answer(worker_document(await context_of(request).operations.workers.get(actor, id)))
