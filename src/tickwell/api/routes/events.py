"""Live events."""

from __future__ import annotations

from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response

from tickwell.api.stream import EventStream
from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission
from tickwell.web.context import context_of
from tickwell.web.route_permission import allow
from tickwell.web.stream_reauth import may_listen

router = APIRouter(tags=["events"])

_ANSWER: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events; each `data` is a CloudEvent in JSON.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


@router.get("/events", operation_id="stream_events", summary="Stream events", responses=_ANSWER)
async def events(request: Request, actor: Actor = allow(Permission.READ)) -> Response:
    """What happens in the project from now on. After a break, read lists again."""
    context = context_of(request)
    subscription = context.feed.subscribe(actor.project, actor.name)
    still = partial(may_listen, lambda: context.authenticate(request), actor)
    return EventStream(context.feed, subscription, context.clock, still)
