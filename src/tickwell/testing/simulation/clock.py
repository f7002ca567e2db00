"""The clock of a simulated process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tickwell.testing.simulation.world import World


class NodeClock:
    """As `StoreClock`, on virtual time; its own second is a little longer or shorter than others'.

    Where it began to count is its own as well, so that monotonic times of two processes compare
    to nothing.
    """

    def __init__(self, world: World, start: float, rate: float) -> None:
        self._world = world
        self._start = start
        self._rate = rate
        self._offset = 0.0
        self._sampled_at = float("-inf")
        #: Of the last sample and of the one before, by which something may be on its way to start.
        self._round_trips = (0.0, 0.0)
        #: How the store's clock was set when this one last looked.
        self._store_offset = 0

    def now(self) -> int:
        return int((self.monotonic() + self._offset) * 1000)

    def monotonic(self) -> float:
        return self._start + self._world.loop.time() * self._rate

    def sample(self, store_time: int, sent: float, received: float) -> None:
        self._offset = store_time / 1000 - (sent + received) / 2
        self._sampled_at = received
        self._round_trips = (self._round_trips[1], received - sent)
        self._store_offset = self._world.offset_of(store_time)

    def sample_age(self) -> float:
        return self.monotonic() - self._sampled_at

    def host_offset(self) -> int:
        return 0

    def earliest(self) -> int:
        """What the store's clock says, as it was set at the last sample, and the sample's error."""
        error = max(self._round_trips) / 2 + self.sample_age() * abs(1 - self._rate) + 0.001
        true = self._world.store_time() - self._world.offset + self._store_offset
        return true + int(error * 1000) + 1

    async def wait(self, wake: asyncio.Event, seconds: float) -> None:
        if wake.is_set() or seconds <= 0:
            await asyncio.sleep(0)  # noqa: TID251 - as in `StoreClock`
            return
        try:
            async with asyncio.timeout(seconds / self._rate):
                await wake.wait()
        except TimeoutError:
            return

    def call_later(self, seconds: float, callback: Callable[[], None]) -> None:
        asyncio.get_running_loop().call_later(seconds / self._rate, callback)

    def hold_until(self, instant: int) -> None:
        """Time does not pass by waiting for it: a timer follows."""
