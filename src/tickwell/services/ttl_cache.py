"""Remembers what was read, for so short a time that nobody is misled by it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from tickwell.services.time import Time

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

#: Milliseconds that anything is remembered: a key that was taken back is refused after this.
BRIEFLY = 4_000
MOST = 10_000


class TtlCache(Generic[K, V]):
    """Answers by key; asked again when an answer is older than it may be."""

    def __init__(self, clock: Time, life: int = BRIEFLY) -> None:
        self._clock = clock
        self._life = life
        self._known: dict[K, tuple[V, int]] = {}

    async def get(self, key: K, read: Callable[[], Awaitable[V]], *, since: int | None = None) -> V:
        """What is remembered, and was read later than `since`; else what `read` answers now."""
        now = self._clock.now()
        known = self._known.get(key)
        if (
            known is not None
            and now - known[1] < self._life
            and (since is None or known[1] > since)
        ):
            return known[0]
        value = await read()
        # Counted from before the read: an answer on its way may be old already.
        self._put(key, value, now)
        return value

    def put(self, key: K, value: V) -> None:
        """Remember what this process has just made of it."""
        self._put(key, value, self._clock.now())

    def _put(self, key: K, value: V, at: int) -> None:
        if len(self._known) >= MOST:
            self._known.clear()
        self._known[key] = (value, at)

    def forget(self, key: K) -> None:
        """Ask anew next time: this process has just changed it."""
        self._known.pop(key, None)
