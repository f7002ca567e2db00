"""A TTL cache whose callers share one read: ten that ask at once cost as much as one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from tickwell.clock import Clock

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

#: Values that are remembered at once.
MOST = 1_000


class SharedRead(Generic[K, V]):
    """Values by key, read again when they are older than the TTL."""

    def __init__(self, clock: Clock, ttl: float) -> None:
        self._clock = clock
        self._ttl = ttl
        self._known: dict[K, tuple[V, float]] = {}
        self._reading: dict[K, asyncio.Lock] = {}

    async def get(self, key: K, read: Callable[[], Awaitable[V]]) -> V:
        """What was read within the TTL or since the call, else what `read` answers now."""
        asked_at = self._clock.monotonic()
        async with self._reading.setdefault(key, asyncio.Lock()):
            known = self._known.get(key)
            # A crowd that waited for one look must not wait for a second: the first may have been
            # at a store that hangs, and the last of the crowd comes here long after the TTL.
            if known is not None and (
                known[1] >= asked_at or self._clock.monotonic() - known[1] < self._ttl
            ):
                return known[0]
            value = await read()
            if len(self._known) >= MOST:
                self._known.clear()
                self._reading.clear()
            # From its end: callers that waited for a slow read share it, and do not repeat it.
            self._known[key] = value, self._clock.monotonic()
            return value
