"""Live events."""

from __future__ import annotations

from functools import partial

from fastapi import Request, Response

from tickwell.api.http.event_stream import EventStream
from tickwell.api.http.route import HttpGroup
from tickwell.services.access.actor import Actor, Permission
from tickwell.services.event_feed import Interest
from tickwell.services.operations.records.event import EVENT_TYPES, Event, EventQuery
from tickwell.services.operations.schema import reference
from tickwell.web.authentication import may_listen
from tickwell.web.context import context_of

GROUP = HttpGroup("events")
_SCHEMA = {
    "type": "string",
    "contentMediaType": "application/json",
    "contentSchema": reference(Event),
}
_CONTENT = {
    "description": "Server-sent events; each `data` is a CloudEvent in JSON, as `contentSchema`"
    " describes it.",
    "content": {"text/event-stream": {"schema": _SCHEMA}},
}


@GROUP.get("/events", Permission.READ, Event, parameters=EventQuery, content=_CONTENT)
async def stream_events(request: Request, actor: Actor) -> Response:
    """Stream what happens in the project from now on. After a break, read lists again."""
    context = context_of(request)
    query = EventQuery.read_query(request.query_params.multi_items())
    job = None
    if query.job is not None:
        job = (await context.operations.executions.job_of(actor, query.job)).job.id
    interest = Interest.of(query.type, EVENT_TYPES, job)
    subscription = context.feed.subscribe(actor.project, actor.name, interest)
    still = partial(may_listen, lambda: context.authenticate(request), actor)
    return EventStream(context.feed, subscription, context.clock, still)
