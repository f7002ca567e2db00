"""A TCP proxy with faults, between a client and a server on this host.

Each direction has its own: `up` is from the client to the server, `down` is the way back. It runs
in a thread of its own and is told what to do from any other.
"""

import asyncio
import socket
import struct
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from tests.proxy.listener import rounds, stop_listening

#: Bytes read at once.
CHUNK = 1 << 16
#: Closing with it sends a reset instead of an end.
ABRUPTLY = struct.pack("ii", 1, 0)
#: Seconds in which the thread does what it is told.
PATIENCE = 100.0


class Direction:
    """What happens to bytes on one of the two ways."""

    def __init__(self) -> None:
        #: Seconds by which each chunk is late.
        self.latency = 0.0
        #: So many bytes pass, of all connections together; the next ones are lost with theirs.
        self.passing: int | None = None
        #: Whether a chunk is lost, and its connection with it.
        self.loses: Callable[[bytes], bool] = lambda data: False
        #: How many connections ended in this way.
        self.lost = 0
        self.flowing = asyncio.Event()
        self.flowing.set()

    def cuts(self, data: bytes) -> bool:
        """Whether the connection ends here, instead of this chunk."""
        over = self.passing is not None and len(data) > self.passing
        if self.passing is not None and not over:
            self.passing -= len(data)
        if over:
            self.passing = None  # the connections after this one are whole
        if over or self.loses(data):
            self.lost += 1
            return True
        return False


class Link:
    """A connection of a client, and the one to the server that belongs to it."""

    def __init__(self, writers: tuple[asyncio.StreamWriter, ...]) -> None:
        self.writers = writers
        #: Nothing passes on it any more, and neither end is told.
        self.forgotten = False

    def cut(self) -> None:
        """Reset both."""
        for writer in self.writers:
            wire = writer.get_extra_info("socket")
            with suppress(OSError):
                wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABRUPTLY)
            writer.transport.abort()


class Proxy:
    """Listens on a port of its own."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.port = 0
        self.up = Direction()
        self.down = Direction()
        #: Connections so far.
        self.accepted = 0
        self._links: set[Link] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def start(self) -> None:
        self._thread.start()
        self._do(self._listen())

    def close(self) -> None:
        self._do(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def stall(self, *directions: Direction) -> None:
        """From now on nothing passes, and nobody is told: a black hole."""
        self._do(self._set(directions or (self.up, self.down), flowing=False))

    def heal(self) -> None:
        """What was held up goes on."""
        self._do(self._set((self.up, self.down), flowing=True))

    def cut(self) -> None:
        """Reset every connection that there is."""
        self._do(self._cut())

    def forget(self) -> None:
        """Let no byte pass on the connections that there are, ever; new ones are whole."""
        self._do(self._forget())

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _set(self, directions: tuple[Direction, ...], *, flowing: bool) -> None:
        for each in directions:
            if flowing:
                each.flowing.set()
            else:
                each.flowing.clear()

    async def _cut(self) -> None:
        for link in list(self._links):
            link.cut()

    async def _forget(self) -> None:
        for link in self._links:
            link.forgotten = True

    async def _close(self) -> None:
        await stop_listening(self._server)  # whom it has just let in has its task
        await self._cut()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await rounds()  # what is done is cut in the next round, and closed in the one after it

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        task = self._loop.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # Also of a task that was cancelled before its first step, or before it reached the server.
        task.add_done_callback(lambda _: Link((writer,)).cut())

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            back, forth = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            return
        link = Link((writer, forth))
        self._links.add(link)
        try:
            await asyncio.gather(
                self._pump(reader, forth, self.up, link), self._pump(back, writer, self.down, link)
            )
        except OSError:
            pass  # one end is gone, so the other goes as well
        finally:
            link.cut()
            self._links.discard(link)

    async def _pump(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        direction: Direction,
        link: Link,
    ) -> None:
        while data := await reader.read(CHUNK):
            if direction.latency:
                await asyncio.sleep(direction.latency)
            await direction.flowing.wait()
            if link.forgotten:
                continue
            if direction.cuts(data):
                link.cut()
                raise ConnectionResetError
            writer.write(data)
            await writer.drain()
        await direction.flowing.wait()  # an end does not pass a black hole either
        if not link.forgotten:
            writer.write_eof()


@contextmanager
def proxied(target: int) -> Iterator[Proxy]:
    """A proxy to a port of this host."""
    proxy = Proxy(target)
    proxy.start()
    try:
        yield proxy
    finally:
        proxy.close()
