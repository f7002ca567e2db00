"""The client that is awaited."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from types import TracebackType
from typing import Self

from tickwell.client.base import BaseClient
from tickwell.client.results import Event
from tickwell.client.stream import follow, stream_events
from tickwell.client.transport import Endpoint, Transport
from tickwell.domain.trigger.duration import Duration, parse_duration


class AsyncClient(BaseClient):
    """The API of one server, by `await`. Belongs to one event loop; close it, or use `async with`.

    Without arguments the server and the key are those of `TICKWELL_SERVER` and `TICKWELL_KEY`. A
    key has one project; with other credentials name the project.
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
        self._transport = Transport(
            Endpoint.of(server, key, project),
            timeout=parse_duration(timeout, field="timeout") / 1000,
            retries=retries,
        )
        super().__init__(self._transport)

    def stream_events(
        self, type: Sequence[str] = (), job: str | None = None
    ) -> AsyncGenerator[Event, None]:
        """What happens in the project from now on, without an end.

        Of these types only, as `["execution.dead", "job"]`, and of this job, by name or id.
        """
        return follow(self._transport, stream_events(type, job))

    def server_now(self) -> int | None:
        """The server's time in milliseconds, within half a second; None before its first answer."""
        return self._transport.server_now()

    async def close(self) -> None:
        """Close connections."""
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
