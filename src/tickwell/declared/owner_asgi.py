"""The API of a scheduler behind a server whose event loop does not own the scheduler."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeVar

from tickwell.declared.owner_loop import OwnerLoop

T = TypeVar("T")
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Message, Receive, Send], Awaitable[None]]


class InOwner:
    """Middleware that answers every request in the loop that owns the scheduler.

    Requests and responses still pass through the loop of the server: its sockets live there.
    """

    def __init__(self, app: Asgi, owner: OwnerLoop) -> None:
        self.app = app
        self.owner = owner

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        here = asyncio.get_running_loop()
        if self.owner.loop in {None, here}:  # without an owner nothing is open yet
            await self.app(scope, receive, send)
            return

        async def receive_there() -> Message:
            return await _in_loop(here, receive)

        async def send_there(message: Message) -> None:
            await _in_loop(here, send, message)

        async def answer() -> None:
            await self.app(scope, receive_there, send_there)

        await self.owner.run(answer)


async def _in_loop(
    loop: asyncio.AbstractEventLoop, call: Callable[..., Awaitable[T]], *arguments: Any
) -> T:
    async def work() -> T:
        return await call(*arguments)

    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work(), loop))
