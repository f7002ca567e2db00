"""Live events."""

from __future__ import annotations

from functools import partial

from fastapi import Request, Response

from tickwell.api.http.event_stream import EventStream
from tickwell.api.http.route import HttpGroup
from tickwell.services.access.actor import Actor, Permission
from tickwell.services.operations.records.service import Event
from tickwell.web.authentication import may_listen
from tickwell.web.context import context_of

GROUP = HttpGroup("events")
_CONTENT = {
    "description": "Server-sent events; each `data` is a CloudEvent in JSON.",
    "content": {"text/event-stream": {"schema": {"type": "string"}}},
}


@GROUP.get("/events", Permission.READ, Event, content=_CONTENT)
async def stream_events(request: Request, actor: Actor) -> Response:
    """Stream what happens in the project from now on. After a break, read lists again."""
    context = context_of(request)
    subscription = context.feed.subscribe(actor.project, actor.name)
    still = partial(may_listen, lambda: context.authenticate(request), actor)
    return EventStream(context.feed, subscription, context.clock, still)
