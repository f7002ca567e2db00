"""The live stream: notifies open pages of changes, at most once a second."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from tickwell.clock import Clock
from tickwell.domain.event import Event, Events, Started, Stopped, projects_of
from tickwell.errors import LimitReached
from tickwell.services.access.actor import Actor, Permission
from tickwell.ui.visitor import Visitor, visit
from tickwell.web.authentication import may_listen

#: Live streams per process, and per visitor.
MOST, MOST_OF_ONE = 200, 20
#: Seconds between two messages to one page.
PAUSE = 1.0
#: Seconds between refreshes without an event: other processes write to the store too.
LOOK = 4.0

#: Whether the visitor may still read: the session may have ended.
Still = Callable[[], Awaitable[bool]]

router = APIRouter(include_in_schema=False)


class Hub:
    """Wakes the streams of a project on each engine event of this process.

    A stream is one flag: a slow reader skips notifications, and none queue up.
    """

    def __init__(self, events: Events) -> None:
        #: Each stream with its visitor and project.
        self.streams: dict[asyncio.Event, tuple[str, str]] = {}
        #: Event counts by project; None counts those of the process.
        self._heard: Counter[str | None] = Counter()
        #: The engine has drained: an open stream would delay the exit of the process.
        self.over = asyncio.Event()
        events.subscribe(self._on_event)

    def _on_event(self, event: Event) -> None:
        projects = projects_of(event)
        self._heard.update([None] if projects is None else projects)
        if isinstance(event, Stopped):
            self.over.set()
        elif isinstance(event, Started):
            self.over.clear()
        for stream, (_, project) in self.streams.items():
            if projects is None or project in projects:
                stream.set()

    def heard(self, project: str) -> int:
        """The event count of a project; a page stores the count it was rendered at."""
        return self._heard[project] + self._heard[None]

    def join(self, visitor: str, project: str, heard: int | None = None) -> asyncio.Event:
        """Add a stream; it fires at once if its page missed an event. End it with `streams.pop`."""
        if len(self.streams) >= MOST:
            raise LimitReached(f"this process already streams to {MOST} open pages", retry_after=30)
        if sum(each == visitor for each, _ in self.streams.values()) >= MOST_OF_ONE:
            raise LimitReached(f"you already have {MOST_OF_ONE} pages open", retry_after=30)
        stream = asyncio.Event()
        if heard not in {None, self.heard(project)}:
            stream.set()
        self.streams[stream] = visitor, project
        return stream


class Stream(StreamingResponse):
    """A streaming response that leaves the hub when it ends."""

    def __init__(self, hub: Hub, stream: asyncio.Event, clock: Clock, still: Still) -> None:
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        messages = _messages(hub, stream, clock, still)
        super().__init__(messages, headers=headers, media_type="text/event-stream")
        self.hub = hub
        self.stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self.hub.streams.pop(self.stream, None)


@router.get("/live")
async def live(
    request: Request, heard: int | None = None, visitor: Visitor = visit(Permission.READ)
) -> Stream:
    """Change notifications without content: the page reloads the parts it may see."""
    hub: Hub = request.app.state.hub
    actor, context = visitor.actor, visitor.context

    async def ask() -> Actor:
        return (await context.visit(request))[0]

    still = partial(may_listen, ask, actor)
    return Stream(hub, hub.join(actor.name, actor.project, heard), context.clock, still)


async def _messages(
    hub: Hub, stream: asyncio.Event, clock: Clock, still: Still
) -> AsyncIterator[str]:
    yield "retry: 3000\n\n"
    while not hub.over.is_set():
        await clock.wait(stream, LOOK)
        stream.clear()
        if not (hub.over.is_set() or await still()):
            return
        yield "event: changed\ndata:\n\n"
        await clock.wait(hub.over, PAUSE)
