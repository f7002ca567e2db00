"""A receiver that answers as badly as a test wants, byte by byte."""

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from tests.proxy.listener import rounds, stop_listening

LENGTH = re.compile(rb"content-length: *([0-9]+)", re.IGNORECASE)


@dataclass
class Exchange:
    """One request as it came, and the way to answer it."""

    head: bytes
    body: bytes
    writer: asyncio.StreamWriter
    receiver: "Receiver"

    @property
    def line(self):
        return self.head.split(b"\r\n")[0].decode()

    @property
    def headers(self):
        lines = self.head.decode("latin-1").split("\r\n")[1:]
        pairs = (line.partition(": ") for line in lines if line)
        return {name.lower(): value for name, _, value in pairs}

    async def send(self, data: bytes):
        """Write, and let the other side take it; what it does not take is not counted."""
        self.writer.write(data)
        await self.writer.drain()
        self.receiver.sent += len(data)


Behaviour = Callable[[Exchange], Awaitable[None]]


@dataclass
class Receiver:
    behaviour: Behaviour
    ssl: object = None
    #: Behaves as soon as somebody connects, without waiting for a request.
    rash: bool = False
    connections: int = 0
    #: Bytes that the client took.
    sent: int = 0
    exchanges: list[Exchange] = field(default_factory=list)
    port: int = 0

    async def __aenter__(self):
        self._tasks: set[asyncio.Task] = set()
        self._server = await asyncio.start_server(
            self._accept, "127.0.0.1", 0, ssl=self.ssl, limit=2**20
        )
        self.port = self._server.sockets[0].getsockname()[1]
        self._came = asyncio.Semaphore(0)
        return self

    async def __aexit__(self, *_):
        await stop_listening(self._server)  # whom it has just let in has its task
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await rounds()  # what is done is cut in the next round, and closed in the one after

    def url(self, path="/", host="127.0.0.1", scheme="http"):
        return f"{scheme}://{host}:{self.port}{path}"

    async def received(self, count):
        """Wait until so many more requests have come."""
        for _ in range(count):
            await self._came.acquire()

    async def left(self):
        """Wait until everybody who connected has hung up."""
        await asyncio.gather(*self._tasks)

    @property
    def last(self):
        return self.exchanges[-1]

    def _accept(self, reader, writer):
        self.connections += 1
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # Also of a task that was cancelled before its first step.
        task.add_done_callback(lambda _: writer.transport.abort())

    async def _serve(self, reader, writer):
        with contextlib.suppress(
            ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError
        ):
            if self.rash:
                await self.behaviour(Exchange(b"", b"", writer, self))
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                found = LENGTH.search(head)
                body = await reader.readexactly(int(found[1])) if found else b""
                exchange = Exchange(head, body, writer, self)
                self.exchanges.append(exchange)
                self._came.release()
                await self.behaviour(exchange)


def answers(status=200, body=b"ok", headers=()):
    """A good answer, whatever its status."""

    async def behave(exchange):
        lines = [f"HTTP/1.1 {status} Some", f"Content-Length: {len(body)}", *headers, "", ""]
        await exchange.send("\r\n".join(lines).encode() + body)

    return behave


def sends(*parts, then_close=True):
    """These bytes, whatever they are."""

    async def behave(exchange):
        for part in parts:
            await exchange.send(part)
        if then_close:
            exchange.writer.close()
            raise ConnectionResetError
        await asyncio.Event().wait()

    return behave


async def hang(exchange):
    await asyncio.Event().wait()


def repeats(start, again, pause=0.0):
    """A beginning, then the same without end."""

    async def behave(exchange):
        await exchange.send(start)
        while True:
            await exchange.send(again)
            await asyncio.sleep(pause)

    return behave


def told(outcome):
    """The answer of an outcome, without its headers."""
    result = outcome.result or {}
    return {name: value for name, value in result.items() if name != "headers"}
