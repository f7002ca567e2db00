"""The operations by `await`, whatever carries them out."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TypeVar, cast

from tickwell.client.call import Answer, Call, Calls
from tickwell.client.operation import Awaits
from tickwell.client.operations import Operations
from tickwell.client.results import Page

T = TypeVar("T")


class BaseClient(Operations, Awaits):
    """Sends calls over HTTP to a server, or to the handlers in this process."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def send(self, call: Call[T]) -> T:
        return cast("T", (await self.answer(call)).document)

    async def answer(self, call: Call[T]) -> Answer:
        """The same with the status that it came with."""
        return await self._calls.answer(call)

    async def each(self, call: Call[Page[T]]) -> AsyncGenerator[T, None]:
        while True:
            page = await self.send(call)
            for item in page["items"]:
                yield item
            if page["next_cursor"] is None:
                return
            call = call.after(page["next_cursor"])
