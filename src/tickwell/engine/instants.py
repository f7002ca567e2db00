"""Instants: what is held until its time has come, and how exactly that is met."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from tickwell.clock import Clock
from tickwell.engine.attempt import Attempt
from tickwell.engine.lane import Lane
from tickwell.engine.reporter import MANY

#: Milliseconds before a crowded instant from which on the clock is looked at in every turn of the
#: event loop: timers count whole milliseconds, and were 1 to 2 late.
NEAR = 2
#: Looks at most; where no time passes by looking, a timer is waited for.
LOOKS = 1_000


class Instants:
    """Attempts held for an instant, lane by lane, in the order of their claims."""

    def __init__(self, clock: Clock, come: Callable[[Lane, list[Attempt]], None]) -> None:
        self.clock = clock
        self.come = come
        self._held: dict[tuple[int, Lane], list[Attempt]] = {}

    def add(self, attempt: Attempt) -> None:
        """Hold it until its instant."""
        instant = attempt.claim.run_at, attempt.lane
        together = self._held.setdefault(instant, [])
        together.append(attempt)
        if len(together) == 1:
            self._await(instant, LOOKS)

    def _await(self, instant: tuple[int, Lane], looks: int) -> None:
        """Not a task: at the instant that would stand behind whatever is ready once more."""
        # A timer may end a little early (uvloop: 0.3 ms): the clock decides, never the timer.
        # And the store's clock may be set meanwhile, so it is looked at each second.
        run_at, lane = instant
        left = run_at - self.clock.now()
        if left <= 0:
            self.come(lane, self._held.pop(instant))
        elif left <= NEAR and looks and len(self._held[instant]) >= MANY:
            asyncio.get_running_loop().call_soon(self._await, instant, looks - 1)
        else:
            # Near enough first: until then it is not known how many come.
            rest = left - NEAR if left > NEAR else left
            self.clock.call_later(min(rest / 1000, 1.0), partial(self._await, instant, looks))
