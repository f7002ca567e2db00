"""The client that waits: the other one, in an event loop in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import AsyncGenerator, Coroutine, Iterator, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar, cast

from tickwell.client.asynchronous import AsyncClient
from tickwell.client.call import Call
from tickwell.client.operation import Blocks
from tickwell.client.operations import Operations
from tickwell.client.results import Event, Page
from tickwell.domain.trigger.duration import Duration
from tickwell.errors import NotRunning

T = TypeVar("T")
_NO_MORE = object()


class Client(Operations, Blocks):
    """The API of one server. Any thread may use it; close it, or use `with`.

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
        self._inner = AsyncClient(
            server, key=key, project=project, timeout=timeout, retries=retries
        )
        self._loop = asyncio.new_event_loop()
        thread = threading.Thread(target=_run, args=(self._loop,), name="tickwell", daemon=True)
        thread.start()
        #: Also called when nobody holds the client any more, and at the end of the process.
        self._end = weakref.finalize(self, _end, self._inner, self._loop, thread)

    def send(self, call: Call[T]) -> T:
        return self._wait(self._inner.send(call))

    def each(self, call: Call[Page[T]]) -> Iterator[T]:
        return self._iterate(self._inner.each(call))

    def stream_events(self, type: Sequence[str] = (), job: str | None = None) -> Iterator[Event]:
        """What happens in the project from now on, without an end; see `AsyncClient`."""
        return self._iterate(self._inner.stream_events(type, job))

    def close(self) -> None:
        """Let go of connections, and end the thread."""
        self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _iterate(self, items: AsyncGenerator[T, None]) -> Iterator[T]:
        try:
            while (item := self._wait(_next(items))) is not _NO_MORE:
                yield cast("T", item)
        finally:
            if self._end.alive:
                self._wait(items.aclose())

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        if not self._end.alive:
            work.close()
            raise NotRunning("the client is closed; make another one")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # Ctrl-C, above all
            raise


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()
    loop.close()


async def _next(items: AsyncGenerator[T, None]) -> T | object:
    return await anext(items, _NO_MORE)


def _end(inner: AsyncClient, loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    asyncio.run_coroutine_threadsafe(_stop(inner, loop), loop)
    if threading.current_thread() is not thread:  # any thread may collect garbage
        thread.join()


async def _stop(inner: AsyncClient, loop: asyncio.AbstractEventLoop) -> None:
    await inner.close()
    loop.stop()
