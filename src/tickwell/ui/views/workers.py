"""Processes and queues: what is alive, how much waits, and what is held back."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse

from tickwell.services.access.actor import Permission
from tickwell.ui.redirects import redirect_with_toast
from tickwell.ui.rendering import page
from tickwell.ui.views.pauses import shown_pauses
from tickwell.ui.visitor import Visitor, visit

router = APIRouter(include_in_schema=False)


@router.get("/workers")
async def workers(request: Request, visitor: Visitor = visit(Permission.READ)) -> HTMLResponse:
    """Every process that the store remembers, and every queue."""
    operations, actor = visitor.operations, visitor.actor
    found = await operations.workers.list(actor)
    return page(
        request,
        visitor,
        "workers.html",
        workers=sorted(found, key=lambda each: (each.lost, each.worker.host, each.worker.pid)),
        queues=await operations.queues.list(actor),
        **await shown_pauses(visitor),
    )


@router.post("/queues/{name}/pause")
async def pause(
    request: Request,
    name: str,
    why: Annotated[str, Form(max_length=500)] = "",
    visitor: Visitor = visit(Permission.PLATFORM),
) -> Response:
    """Workers claim nothing more from it."""
    await visitor.operations.queues.pause(visitor.actor, name, why=why)
    return redirect_with_toast(request, f"Paused queue {name}", "/workers")


@router.post("/queues/{name}/resume")
async def resume(
    request: Request, name: str, visitor: Visitor = visit(Permission.PLATFORM)
) -> Response:
    """Workers claim from it again."""
    await visitor.operations.queues.resume(visitor.actor, name)
    return redirect_with_toast(request, f"Resumed queue {name}", "/workers")
