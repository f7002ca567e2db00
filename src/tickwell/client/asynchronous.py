"""The client that is awaited."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from types import TracebackType
from typing import Self, TypeVar, cast

from tickwell.client.call import Call
from tickwell.client.operation import Awaits
from tickwell.client.operations import Operations
from tickwell.client.place import Place
from tickwell.client.results.page import Page
from tickwell.client.results.service import Event
from tickwell.client.stream import follow
from tickwell.client.transport import Answer, Transport
from tickwell.domain.trigger.duration import Duration, parse_duration

T = TypeVar("T")


class AsyncClient(Operations, Awaits):
    """The API of one server, by `await`. Belongs to one event loop; close it, or use `async with`.

    Without arguments the server and the key are those of `TICKWELL_SERVER` and `TICKWELL_KEY`. A
    key has one project; who logs in otherwise names it.
    """

    def __init__(
        self,
        server: str | None = None,
        *,
        key: str | None = None,
        project: str | None = None,
        timeout: Duration = "30s",
        retries: int = 3,
    ) -> None:
        place = Place.of(server, key, project)
        self._transport = Transport(
            place, timeout=parse_duration(timeout, field="timeout") / 1000, retries=retries
        )

    async def send(self, call: Call[T]) -> T:
        return cast("T", (await self.answer(call)).document)

    async def answer(self, call: Call[T]) -> Answer:
        """The same with the status that it came with."""
        return await self._transport.answer(call)

    async def each(self, call: Call[Page[T]]) -> AsyncGenerator[T, None]:
        while True:
            page = await self.send(call)
            for item in page["items"]:
                yield item
            if page["next_cursor"] is None:
                return
            call = call.after(page["next_cursor"])

    def stream_events(self) -> AsyncGenerator[Event, None]:
        """What happens in the project from now on, without an end."""
        return follow(self._transport)

    async def close(self) -> None:
        """Let go of connections."""
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()
