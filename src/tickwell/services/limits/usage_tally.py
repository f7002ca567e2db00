"""What one project has, as this process knows it: counted in the store, and what it adds itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from math import inf

from tickwell.errors import LimitReached
from tickwell.services.limits.quota import Usage
from tickwell.services.time import Time
from tickwell.services.ttl_cache import BRIEFLY

#: A count is used for so many times as long as it took: a large project is not always counted.
_WORTH = 10

Count = Callable[[], Awaitable[Usage]]
#: Raises `LimitReached` where there would be too much.
Check = Callable[[Usage], None]


class Tally:
    """Lets in what fits; those who ask at once do so one after the other."""

    def __init__(self, clock: Time) -> None:
        self._clock = clock
        self._usage = Usage()
        self._counted_at = -inf
        #: Milliseconds that the count is used for.
        self._life = BRIEFLY
        #: Whether anything was let in since it was counted.
        self._added = False
        self._turn = asyncio.Lock()
        self._under_way = 0
        self._still = asyncio.Event()
        self._still.set()

    @asynccontextmanager
    async def adding(self, more: Usage, count: Count, check: Check) -> AsyncIterator[None]:
        """While it is held, so much is added to the store."""
        async with self._turn:
            await self._take(more, count, check)
            self._under_way += 1
            self._still.clear()
        try:
            yield
        except BaseException:
            self._usage -= more
            raise
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._still.set()

    async def _take(self, more: Usage, count: Count, check: Check) -> None:
        if self._age >= self._life:
            await self._count(count)
        try:
            check(self._usage + more)
        except LimitReached:
            if self._age < BRIEFLY and not self._added:
                raise
            # What was there, or was let in, may be gone again.
            await self._count(count)
            check(self._usage + more)
        self._usage += more
        self._added = True

    @property
    def _age(self) -> float:
        return self._clock.now() - self._counted_at

    async def _count(self, count: Count) -> None:
        await self._still.wait()  # what is on its way would be left out
        began = self._clock.now()
        self._usage, self._added = await count(), False
        self._counted_at = began
        self._life = max(BRIEFLY, _WORTH * (self._clock.now() - began))
