"""The live stream: tells open pages that something changed, at most once a second."""

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
from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission
from tickwell.ui.visitor import Visitor, visit
from tickwell.web.stream_reauth import may_listen

#: Pages that one process serves a stream to, and those of one visitor.
MOST, MOST_OF_ONE = 200, 20
#: Seconds between two messages to one page.
PAUSE = 1.0
#: Other processes write without a word to this one: pages look by themselves this often, seconds.
LOOK = 4.0

#: Whether the visitor may still look: a session may have ended.
Still = Callable[[], Awaitable[bool]]

router = APIRouter(include_in_schema=False)


class Hub:
    """Wakes the streams of a project when the engine of this process tells something of it.

    A stream is one event that is set or not: a slow reader misses hints, and nothing gathers.
    """

    def __init__(self, events: Events) -> None:
        #: With each, whose it is, and of which project.
        self.streams: dict[asyncio.Event, tuple[str, str]] = {}
        #: Events so far, of every project and of the process.
        self._heard: Counter[str | None] = Counter()
        #: The engine has drained: a stream that went on would hold up the end of its process.
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
        """Events so far; a page remembers how many there were when it was made."""
        return self._heard[project] + self._heard[None]

    def join(self, visitor: str, project: str, heard: int | None = None) -> asyncio.Event:
        """A new stream, which tells at once what its page missed; leave it by `streams.pop`."""
        if len(self.streams) >= MOST:
            raise LimitReached(f"{MOST} pages are open already", retry_after=30)
        if sum(each == visitor for each, _ in self.streams.values()) >= MOST_OF_ONE:
            raise LimitReached(f"{MOST_OF_ONE} pages of yours are open already", retry_after=30)
        stream = asyncio.Event()
        if heard not in {None, self.heard(project)}:
            stream.set()
        self.streams[stream] = visitor, project
        return stream


class Stream(StreamingResponse):
    """Leaves the hub when it ends, whether or not anything of it was read."""

    def __init__(self, hub: Hub, stream: asyncio.Event, clock: Clock, still: Still) -> None:
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        messages = _messages(hub, stream, clock, still)
        super().__init__(messages, headers=headers, media_type="text/event-stream")
        self.hub = hub
        self.stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self.hub.streams.pop(self.stream, None)


@router.get("/live")
async def live(
    request: Request, heard: int | None = None, visitor: Visitor = visit(Permission.READ)
) -> Stream:
    """Hints without content: what a page may see, it asks for itself."""
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
