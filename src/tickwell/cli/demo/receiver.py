"""The receiver of the example's webhooks: on this machine, mostly well, now and then not."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from http import HTTPStatus
from random import Random

from tickwell.cli.demo.shop import answer_of, temper
from tickwell.clock import Clock

#: Seconds that an answer takes at most, and after which a silent caller is let go.
_SLOWEST, _PATIENCE = 3.0, 10.0


class DemoReceiver:
    """Answers each job as its temper is."""

    def __init__(self, clock: Clock, random: Random) -> None:
        self.clock = clock
        self.random = random

    async def start(self) -> str:
        """Listen on a free port; answer the address."""
        self.server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"

    async def stop(self) -> None:
        """Listen no more."""
        self.server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, TimeoutError, ValueError):
            async with asyncio.timeout(_PATIENCE):
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                await reader.readexactly(_length(head))
                writer.write(await self._reply(head.split(" ")[1].strip("/")))
                await writer.drain()
        writer.close()

    async def _reply(self, name: str) -> bytes:
        mood = temper(name)
        takes = min(self.random.random() * mood.takes / 500, _SLOWEST)
        await self.clock.wait(asyncio.Event(), takes)
        status, body = 200, '{"ok": true}'
        if mood.until < 0 or self.random.random() * 100 < mood.often:
            status, body = answer_of(mood.error) or (500, mood.error)
        reason = HTTPStatus(status).phrase
        return (
            f"HTTP/1.1 {status} {reason}\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n{body}"
        ).encode()


def _length(head: str) -> int:
    for line in head.lower().split("\r\n"):
        if line.startswith("content-length:"):
            return int(line.partition(":")[2])
    return 0
