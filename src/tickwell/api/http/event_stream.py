"""Live events by SSE, CloudEvents in JSON."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any

from fastapi import Response
from starlette.types import Receive, Scope, Send

from tickwell.clock import Clock
from tickwell.services.documents import instant_text
from tickwell.services.event_feed import Feed, FeedEvent, Subscription
from tickwell.web.json_response import encoded

#: Seconds between signs of life.
HEARTBEAT = 15.0
#: Seconds that a reader may take for one part; then it is cut off.
SLOW = 10.0
#: Seconds after which a stream ends.
LONGEST = 600.0
#: Seconds after which a listener is asked for its rights again, before it hears more.
ASKED = 1.0

_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


class EventStream(Response):
    """Writes what a subscription is told, until somebody has had enough."""

    media_type = "text/event-stream"

    def __init__(
        self,
        feed: Feed,
        subscription: Subscription,
        clock: Clock,
        may_listen: Callable[[], Awaitable[bool]],
    ) -> None:
        super().__init__()
        self.feed = feed
        self.subscription = subscription
        self.clock = clock
        self.may_listen = may_listen

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        gone = asyncio.create_task(self._notice_end(receive))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
            await self._write(send)
        except TimeoutError:
            return  # a reader this slow hears no more
        finally:
            gone.cancel()
            self.feed.unsubscribe(self.subscription)

    async def _write(self, send: Send) -> None:
        numbers, project = count(1), self.subscription.project
        opened = FeedEvent(
            type="tickwell.stream.opened",
            subject="stream",
            time=self.clock.now(),
            data={"read_again": True},
        )
        await _send(send, framed(opened, project, next(numbers)))
        asked = self.clock.monotonic()
        ends, waiting = asked + LONGEST, self.subscription.waiting
        while not self.subscription.closed and self.clock.monotonic() < ends:
            await self.clock.wait(self.subscription.wake, HEARTBEAT)
            self.subscription.wake.clear()
            if self.clock.monotonic() - asked >= ASKED:
                asked = self.clock.monotonic()
                if not await self.may_listen():
                    break
            parts = [framed(waiting.popleft(), project, next(numbers)) for _ in range(len(waiting))]
            await _send(send, b"".join(parts) or b":\n\n")
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _notice_end(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self.subscription.close()


async def _send(send: Send, body: bytes) -> None:
    async with asyncio.timeout(SLOW):
        await send({"type": "http.response.body", "body": body, "more_body": True})


def framed(event: FeedEvent, project: str, number: int) -> bytes:
    """One event as a frame of the stream."""
    document: dict[str, Any] = {
        "specversion": "1.0",
        "id": f"{event.time}-{number}",
        "source": f"/projects/{project}",
        "type": event.type,
        "subject": event.subject,
        "time": instant_text(event.time),
        "datacontenttype": "application/json",
        "data": event.data,
    }
    head = f"id: {document['id']}\nevent: {event.type}\ndata: ".encode()
    return head + encoded(document) + b"\n\n"
