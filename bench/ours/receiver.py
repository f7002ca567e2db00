"""Hears webhooks and answers at once: `python -m bench.ours.receiver`.

Prints its port; when its standard input ends, when each webhook had arrived in full. Next to
nothing is parsed, so that it takes little of the two cores of a measurement.
"""

import asyncio
import json
import sys
import threading
import time

from tickwell.wiring import loop_factory

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n"
ANSWER += b'{"ok":true}'


class Receiver(asyncio.Protocol):
    """One connection, which is kept."""

    def __init__(self, arrivals: list[float]) -> None:
        self._arrivals = arrivals
        self._heard = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._heard += data
        while (size := whole(self._heard)) and len(self._heard) >= size:
            self._heard = self._heard[size:]
            self._arrivals.append(time.time())
            self._transport.write(ANSWER)  # type: ignore[attr-defined]


def whole(heard: bytes) -> int:
    """How long the first request is; 0: not known yet."""
    head = heard.find(b"\r\n\r\n")
    if head < 0:
        return 0
    begin = heard[:head].lower().find(b"content-length:")
    if begin < 0:
        return head + 4
    return head + 4 + int(heard[begin + 15 : head].split(b"\r\n", 1)[0])


async def receive() -> list[float]:
    """Until whoever started this lets go."""
    arrivals: list[float] = []
    loop, done = asyncio.get_running_loop(), asyncio.Event()
    server = await loop.create_server(lambda: Receiver(arrivals), "127.0.0.1", 0, backlog=1000)

    def wait() -> None:
        sys.stdin.read()
        loop.call_soon_threadsafe(done.set)

    threading.Thread(target=wait, daemon=True).start()
    print(server.sockets[0].getsockname()[1], flush=True)
    await done.wait()
    return arrivals


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        print(json.dumps(runner.run(receive())))
