"""A clock that moves only when the test moves it."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from itertools import count

#: Rounds of the event loop after which a test that never comes to rest is given up on.
MOST_ROUNDS = 10_000
#: 21 June 2026, 00:00 UTC: whole minutes make the times in tests easy to read.
START = 1_782_000_000_000
_Loop = asyncio.AbstractEventLoop


class ManualClock:
    """`tickwell.clock.Clock` for tests. `wait()` parks; `advance()` wakes, in order, until quiet.

    The store's time and the monotonic time move together; `jump()` moves the store's alone.
    """

    def __init__(self, start: int = START) -> None:
        self._offset = start
        self._elapsed = 0.0
        self._sampled_at = float("-inf")
        #: When, in which order, whether it was woken before, in which loop, and what wakes it.
        self._parked: list[tuple[float, int, asyncio.Event, _Loop, Callable[[], None]]] = []
        self._order = count()

    def now(self) -> int:
        # Rounded first: 0.1 + 0.2 seconds are 300 milliseconds and not one less.
        return self._offset + int(round(self._elapsed * 1000, 3))

    def monotonic(self) -> float:
        return self._elapsed

    def sample(self, store_time: int, sent: float, received: float) -> None:
        self._offset = store_time - int(round((sent + received) * 500, 3))
        self._sampled_at = received

    def sample_age(self) -> float:
        return self._elapsed - self._sampled_at

    def host_offset(self) -> int:
        return 0

    @property
    def parked(self) -> int:
        """How many wait for time to pass."""
        return sum(not rung.is_set() for _, _, rung, _, _ in self._parked)

    async def wait(self, wake: asyncio.Event, seconds: float) -> None:
        if wake.is_set() or seconds <= 0:
            await _give_way()
            return
        rung = asyncio.Event()
        self._park(seconds, rung, rung.set)
        waits = [asyncio.ensure_future(event.wait()) for event in (wake, rung)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            rung.set()
            for each in waits:
                each.cancel()

    def call_later(self, seconds: float, callback: Callable[[], None]) -> None:
        self._park(seconds, asyncio.Event(), callback)

    def hold_until(self, instant: int) -> None:
        """Time does not pass by waiting for it: a timer follows."""

    def _park(self, seconds: float, woken: asyncio.Event, ring: Callable[[], None]) -> None:
        due, here = self._after(seconds), asyncio.get_running_loop()
        heapq.heappush(self._parked, (due, next(self._order), woken, here, ring))

    def _after(self, seconds: float) -> float:
        """Three waits of a tenth end with one of 0.3, and not a rounding error later.

        What waits for less than that still lets time pass: it may look again until its instant.
        """
        due = round(self._elapsed + seconds, 6)
        return due if due > self._elapsed or seconds <= 0 else round(self._elapsed + 1e-6, 6)

    async def advance(self, seconds: float) -> None:
        """Let time pass: wake the waiting tasks, one instant after the other."""
        await self.settle()
        end = self._after(seconds)
        while self._parked and self._parked[0][0] <= end:
            due, _, woken, loop, ring = heapq.heappop(self._parked)
            if woken.is_set() or loop.is_closed():
                continue  # woken before its time, or left behind by an `asyncio.run` that is over
            self._elapsed = max(self._elapsed, due)
            ring()
            await self.settle()
        self._elapsed = end
        await self.settle()

    def jump(self, seconds: float) -> None:
        """The store's clock is set: its time moves, no time passes."""
        self._offset += int(seconds * 1000)

    async def settle(self) -> None:
        """Let everything run that can run without time passing."""
        ready = getattr(asyncio.get_running_loop(), "_ready", None)
        for _ in range(50 if ready is None else MOST_ROUNDS):
            await _give_way()
            if ready is not None and not ready:
                return


async def _give_way() -> None:
    await asyncio.sleep(0)  # noqa: TID251 - no time passes
