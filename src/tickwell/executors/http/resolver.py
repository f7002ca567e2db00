"""Names to addresses: in threads of our own, each name asked for once at a time."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

#: A name that stalls takes one thread, however many webhooks wait for it.
THREADS = 16


class Resolver(Protocol):
    """Finds the addresses of a name."""

    async def resolve(self, host: str) -> Sequence[str]:
        """Every address, as text; `OSError` when there is none."""
        ...


class SystemResolver:
    """What the operating system answers."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="tickwell-resolver")
        self._under_way: dict[str, asyncio.Future[Sequence[str]]] = {}

    async def resolve(self, host: str) -> Sequence[str]:
        asked = self._under_way.get(host)
        if asked is None:
            asked = asyncio.get_running_loop().run_in_executor(self._pool, _ask, host)
            self._under_way[host] = asked
            asked.add_done_callback(lambda _: self._under_way.pop(host, None))
        # Shielded: who gives up must not take the answer from those who still wait.
        return await asyncio.shield(asked)

    def close(self) -> None:
        """Wait for nobody: a lookup that stalls ends by itself."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _ask(host: str) -> Sequence[str]:
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))
