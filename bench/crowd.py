"""A crowd of connections that send requests one after another, by bare sockets."""

import asyncio
import time
from collections.abc import Callable

CONNECTIONS = 64


async def crowd(port: int, path: str, bodies: Callable[[int], bytes], count: int) -> float:
    """Send so many requests over all connections; answer the seconds. Anything but 201 raises."""
    # Made before: how long a client takes to write them is not what is measured.
    made = iter([bodies(number) for number in range(count)])

    async def one() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for body in made:
            head = (
                f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
                f"content-length: {len(body)}\r\n\r\n"
            )
            writer.write(head.encode() + body)
            answer = await reader.readuntil(b"\r\n\r\n")
            length = int(answer.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            text = await reader.readexactly(length)
            if b" 201 " not in answer[:20]:
                raise AssertionError(f"{answer[:20]!r} {text[:500]!r}")
        writer.close()

    begin = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(CONNECTIONS)))
    return time.perf_counter() - begin
