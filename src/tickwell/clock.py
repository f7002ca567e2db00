"""Time. The only module that reads a clock; everything else is told what time it is.

An instant is an `int`: milliseconds since the Unix epoch, UTC. Datetimes exist at the edges.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Protocol

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)

#: Later than everything: 31 December 9999. What is held waits until then.
NEVER = 253_402_300_799_999

#: Milliseconds between two looks at the clock in the last one before an instant.
FINELY = 0.2


def to_millis(moment: datetime) -> int:
    """The instant of an aware datetime; what is finer than a millisecond is cut off."""
    return (moment - _EPOCH) // _MILLISECOND


def to_millis_from(moment: datetime) -> int:
    """The first instant that is not before an aware datetime."""
    return -((_EPOCH - moment) // _MILLISECOND)


def to_datetime(instant: int) -> datetime:
    """An instant as an aware UTC datetime."""
    return _EPOCH + timedelta(milliseconds=instant)


class Clock(Protocol):
    """What the engine knows of time. `testing.ManualClock` is the other implementation."""

    def now(self) -> int:
        """The store's time now, rounded down, so that nothing starts early."""
        ...

    def monotonic(self) -> float:
        """Seconds that only ever grow; for durations."""
        ...

    def sample(self, store_time: int, sent: float, received: float) -> None:
        """Take over the store's time, read between two monotonic instants."""
        ...

    def sample_age(self) -> float:
        """Seconds since the last sample; infinite before the first."""
        ...

    def host_offset(self) -> int:
        """Milliseconds that the host's clock was ahead of the store's at the last sample.

        What the round trip can explain is not counted; negative: behind.
        """
        ...

    async def wait(self, wake: asyncio.Event, seconds: float) -> None:
        """Rest until woken, or until the seconds have passed."""
        ...

    def call_later(self, seconds: float, callback: Callable[[], None]) -> None:
        """Call back when the seconds have passed: a turn of the event loop sooner than a rest."""
        ...

    def hold_until(self, instant: int) -> None:
        """Let nothing else have its turn before an instant that is a few milliseconds away."""
        ...


class StoreClock:
    """The store's time at the last sample plus monotonic time elapsed; never the wall clock.

    So a skewed or jumping host clock moves nothing. A sample was read somewhere between sending
    and receiving: of what it allows, the earliest is taken, so that this clock is never ahead of
    the store's and nothing starts early; it is behind by a round trip at most.
    """

    def __init__(self) -> None:
        self._offset = 0.0
        self._sampled_at = float("-inf")
        self._host_offset = 0

    def now(self) -> int:
        return int((time.monotonic() + self._offset) * 1000)

    def monotonic(self) -> float:
        return time.monotonic()

    def sample(self, store_time: int, sent: float, received: float) -> None:
        earliest, latest = store_time / 1000 - received, store_time / 1000 - sent
        if not earliest <= self._offset <= latest:
            # Within the bounds the old value stands: a slow answer does not blur a sharp one.
            self._offset = earliest
        self._sampled_at = received
        host = wall_millis() - int((time.monotonic() - received) * 1000)
        self._host_offset = offset_of(host, store_time, int((received - sent) * 1000))

    def sample_age(self) -> float:
        return time.monotonic() - self._sampled_at

    def host_offset(self) -> int:
        return self._host_offset

    async def wait(self, wake: asyncio.Event, seconds: float) -> None:
        if wake.is_set() or seconds <= 0:
            await asyncio.sleep(0)  # even a loop that never rests lets the others run
            return
        try:
            async with asyncio.timeout(seconds):
                await wake.wait()
        except TimeoutError:
            return

    def call_later(self, seconds: float, callback: Callable[[], None]) -> None:
        asyncio.get_running_loop().call_later(seconds, callback)

    def hold_until(self, instant: int) -> None:
        # By what was left at first: another thread may set the clock back meanwhile, by an hour.
        end = time.monotonic() + (instant - self.now()) / 1000
        while (left := end - time.monotonic()) > 0 and self.now() < instant:
            time.sleep(max(left * 1000 - 1, FINELY) / 1000)


def offset_of(host: int, store_time: int, round_trip: int) -> int:
    """How far a host's clock is ahead of the store's, read when the store's answer arrived.

    The store read its clock at most one round trip before: only what is beyond that is an offset.
    """
    ahead = host - store_time
    return ahead if ahead < 0 else max(ahead - round_trip, 0)


def wall_millis() -> int:
    """The host's wall clock: the store's time where the store has no clock of its own."""
    return time.time_ns() // 1_000_000
