"""Live events: server-sent events read one by one, over as many connections as it takes."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from tickwell.client.call import Call, fields, request
from tickwell.client.results import Event
from tickwell.client.transport import Transport
from tickwell.errors import StoreUnavailable


def stream_events(type: Sequence[str] = (), job: str | None = None) -> Call[Event]:
    """What happens in the project from now on; of these types, and of this job only."""
    query = fields(type=[*type], job=job)
    return request("stream_events", "GET", "/api/v1/events", query=query, repeatable=True)


async def follow(transport: Transport, call: Call[Event]) -> AsyncGenerator[Event, None]:
    """Events as they happen. The server ends a stream now and then: a new one is opened.

    Each begins with `tickwell.stream.opened`: what happened in between is not told, read it again.
    """
    pauses = transport.pauses()
    while True:
        try:
            async with aclosing(_events(transport, call)) as events:
                async for event in events:
                    pauses = transport.pauses()
                    yield event
        except StoreUnavailable:
            if not pauses:
                raise
            await transport.rest(pauses.pop(0))


async def _events(transport: Transport, call: Call[Event]) -> AsyncGenerator[Event, None]:
    data: list[bytes] = []
    async with aclosing(transport.lines(call)) as lines:
        async for line in lines:
            name, _, value = line.rstrip(b"\r\n").partition(b":")
            if name == b"data":
                data.append(value.removeprefix(b" "))
            elif not name and not value and data:
                yield json.loads(b"\n".join(data))
                data.clear()
