"""Start timer: holds attempts until their instant, and starts them exactly then."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from tickwell.clock import Clock
from tickwell.engine.claiming.lane import Lane
from tickwell.engine.claiming.tenant_capacity import TenantCapacity
from tickwell.engine.running.attempt import Attempt
from tickwell.engine.running.start_guard import CROWD, HOLD_WITHIN, StartGuard

#: Milliseconds before the instant of a crowd from which the clock is read in every iteration of
#: the event loop: timers count whole milliseconds, and were 1 to 2 late.
NEAR = 2
#: Readings at most; where no time passes between readings, a timer is used.
READINGS = 1_000


class Held:
    """The attempts held for one instant, in the order of their claims."""

    __slots__ = ("attempts", "counts")

    def __init__(self) -> None:
        self.attempts: list[Attempt] = []
        self.counts: dict[TenantCapacity, int] = {}

    def small(self) -> list[TenantCapacity]:
        """The projects with less than a crowd at this instant."""
        return [share for share, count in self.counts.items() if count < CROWD]


class StartTimer:
    """Attempts held for an instant, lane by lane."""

    def __init__(
        self,
        clock: Clock,
        guard: StartGuard,
        start: Callable[[Lane, list[Attempt]], None],
        is_crowded: Callable[[Lane, TenantCapacity], bool],
    ) -> None:
        self.clock = clock
        self.guard = guard
        self.start = start
        #: Whether other projects than this one keep the worker busy.
        self.is_crowded = is_crowded
        self._held: dict[tuple[int, Lane], Held] = {}

    def add(self, attempt: Attempt) -> None:
        """Hold the attempt until its instant."""
        instant = attempt.claim.run_at, attempt.lane
        held = self._held.get(instant)
        if held is None:
            held = self._held[instant] = Held()
        held.attempts.append(attempt)
        alike = held.counts[attempt.share] = held.counts.get(attempt.share, 0) + 1
        attempt.start_signal = self.guard.make_signal(alike)
        if len(held.attempts) == 1:
            self._await(instant, READINGS)

    def _await(self, instant: tuple[int, Lane], readings: int) -> None:
        """Not a task: at the instant it would queue behind whatever is ready."""
        # A timer may end a little early (uvloop: 0.3 ms): the clock decides, never the timer.
        # And the store's clock may be set meanwhile, so it is read each second.
        run_at, lane = instant
        held, left = self._held[instant], run_at - self.clock.now()
        if 0 < left <= HOLD_WITHIN:
            small = held.small()
            if small and self.is_crowded(lane, small[0]):
                self.guard.hold_loop(run_at)
            left = run_at - self.clock.now()
        if left <= 0:
            for attempts in _small_first(self._held.pop(instant)):
                self.start(lane, attempts)
            self.guard.collect_after_starts(self._next_instant)
        elif left <= NEAR and readings and len(held.attempts) >= CROWD:
            asyncio.get_running_loop().call_soon(self._await, instant, readings - 1)
        else:
            # Near enough first: until then it is not known how many attempts there will be.
            rest = left - next((mark for mark in (HOLD_WITHIN, NEAR) if left > mark), 0)
            self.clock.call_later(min(rest / 1000, 1.0), partial(self._await, instant, readings))

    def _next_instant(self) -> int | None:
        return min((run_at for run_at, _ in self._held), default=None)


def _small_first(held: Held) -> list[list[Attempt]]:
    """Small projects do not queue behind the thousands of another at the same instant."""
    small = set(held.small())
    if len(small) in (0, len(held.counts)):
        return [held.attempts]
    return [
        [one for one in held.attempts if one.share in small],
        [one for one in held.attempts if one.share not in small],
    ]
