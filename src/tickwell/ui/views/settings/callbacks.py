"""Callbacks of the project: the key that signs is shown once, on the page that answers."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse

from tickwell.services.access.actor import Permission
from tickwell.services.callbacks.callback import CallbackEvent
from tickwell.services.callbacks.callbacks import NewCallback
from tickwell.ui.redirects import redirect_with_toast
from tickwell.ui.rendering import page
from tickwell.ui.visitor import Visitor, visit

PATH = "/settings/callbacks"
#: What each event is, in words.
WORDS = {
    CallbackEvent.SUCCEEDED: "an execution succeeded",
    CallbackEvent.FAILED: "an attempt failed, whether or not another follows",
    CallbackEvent.DEAD: "an execution died",
    CallbackEvent.RECOVERED: "an execution succeeded after the previous one had died",
    CallbackEvent.LATE: "an attempt started a second late or later",
    CallbackEvent.CANCELLED: "an execution was cancelled",
    CallbackEvent.SKIPPED: "an execution was skipped: by overlap, expiry or its condition",
    CallbackEvent.PAUSED: "a job was paused by its policy",
}

router = APIRouter(include_in_schema=False)


@router.get(PATH)
async def callbacks(
    request: Request, visitor: Visitor = visit(Permission.ADMINISTER)
) -> HTMLResponse:
    """Whom the project tells, and of what."""
    return await _page(request, visitor)


@router.post(PATH)
async def create(
    request: Request,
    *,
    url: Annotated[str, Form(max_length=2048)],
    events: Annotated[list[CallbackEvent] | None, Form()] = None,
    job: Annotated[str, Form(max_length=255)] = "",
    visitor: Visitor = visit(Permission.ADMINISTER),
) -> HTMLResponse:
    """Tell an address of these events, of one job or of all."""
    made = await visitor.admin.callbacks.create(
        visitor.actor, url, frozenset(events or ()), job or None
    )
    return await _page(request, visitor, made)


@router.post(f"{PATH}/{{id}}/delete")
async def delete(
    request: Request, id: str, visitor: Visitor = visit(Permission.ADMINISTER)
) -> Response:
    """Tell it nothing more."""
    await visitor.admin.callbacks.delete(visitor.actor, id)
    return redirect_with_toast(request, "Callback deleted", PATH)


async def _page(
    request: Request, visitor: Visitor, made: NewCallback | None = None
) -> HTMLResponse:
    found = await visitor.admin.callbacks.list(visitor.actor)
    jobs = [each.job for each in found if each.job is not None]
    names = await visitor.operations.jobs.names(visitor.actor, jobs)
    return page(
        request,
        visitor,
        "settings/callbacks.html",
        callbacks=found,
        names=names,
        words=WORDS,
        made=made,
    )
