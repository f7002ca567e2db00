"""A receiver for ASGI apps: FastAPI, Starlette, Django, Quart, or none."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

from tickwell.domain.trigger.duration import Duration, parse_duration
from tickwell.receivers.memory import AsyncSeen, MemorySeen, Seen, Verdict
from tickwell.receivers.verify import TOLERANCE, Delivery, Rejected, read_secrets, verify_by

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

#: Bytes of a body; what is larger is refused before it is read.
LARGEST_BODY = 2 * 1024 * 1024


class AsgiReceiver:
    """Calls the app once for each webhook, with the `Delivery` in `scope["tickwell"]`."""

    def __init__(
        self,
        app: App,
        secrets: str | Sequence[str],
        *,
        seen: Seen | AsyncSeen | None = None,
        tolerance: Duration = TOLERANCE,
        largest_body: int = LARGEST_BODY,
    ) -> None:
        self.app = app
        self._keys = read_secrets(secrets)
        self._seen: Seen | AsyncSeen = MemorySeen() if seen is None else seen
        self._tolerance = parse_duration(tolerance, field="tolerance")
        self._largest = largest_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = await self._read(receive)
        if body is None:
            await _answer(send, 413, "the body is too large")
            return
        pairs = scope["headers"]
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in pairs}
        try:
            delivery = verify_by(self._keys, body, headers, tolerance=self._tolerance)
        except Rejected as error:
            await _answer(send, error.status, str(error))
            return
        verdict = await _result(self._seen.begin(delivery))
        if verdict is not Verdict.NEW:
            await _answer(send, verdict.value, verdict.name.lower())
            return
        scope = {**scope, "tickwell": delivery}
        await self._take(delivery, scope, _again(body, receive), send)

    async def _take(self, delivery: Delivery, scope: Scope, receive: Receive, send: Send) -> None:
        status, has_ended = 500, False

        async def watch(message: Message) -> None:
            nonlocal status, has_ended
            await send(message)
            if message["type"] == "http.response.start":
                status = message["status"]
            else:
                has_ended = not message.get("more_body", False)

        done = False
        try:
            await self.app(scope, receive, watch)
            done = has_ended and 200 <= status <= 299
        finally:
            await _result(self._seen.end(delivery, done=done))

    async def _read(self, receive: Receive) -> bytes | None:
        body, more = b"", True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return body
            body += message.get("body", b"")
            if len(body) > self._largest:
                return None
            more = message.get("more_body", False)
        return body


def _again(body: bytes, receive: Receive) -> Receive:
    """The body that was read, then what the server says: frameworks wait for a disconnect."""
    unread: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return unread.pop() if unread else await receive()

    return replay


async def _result(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


async def _answer(send: Send, status: int, text: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})
