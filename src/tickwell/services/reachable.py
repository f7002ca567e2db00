"""Whether the store answers, asked for as rarely as the answer may be old."""

from __future__ import annotations

import asyncio

from tickwell.clock import Clock
from tickwell.errors import StoreError
from tickwell.ports.store import Upkeep

#: Seconds that an answer is believed, and that one is waited for.
BELIEVED, PATIENCE = 1.0, 2.0


class Reachable:
    """Anybody may ask, as often as they like: the store is asked once a second."""

    def __init__(self, store: Upkeep, clock: Clock) -> None:
        self.store = store
        self.clock = clock
        self._asked_at = float("-inf")
        self._answer = False
        self._asking = asyncio.Lock()

    async def __call__(self) -> bool:
        """Whether it answered just now."""
        async with self._asking:
            if self.clock.monotonic() - self._asked_at > BELIEVED:
                self._answer = await self._ask()
                self._asked_at = self.clock.monotonic()
            return self._answer

    async def _ask(self) -> bool:
        try:
            async with asyncio.timeout(PATIENCE):
                await self.store.ping()
        except (StoreError, TimeoutError):
            return False
        return True
