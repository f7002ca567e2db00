"""Instants: what is held until its time has come, and how exactly that is met."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from tickwell.clock import Clock
from tickwell.engine.attempt import Attempt
from tickwell.engine.hush import Hush
from tickwell.engine.lane import Lane
from tickwell.engine.reporter import MANY
from tickwell.engine.share import Share
from tickwell.engine.turn import Turn

#: Milliseconds before a crowded instant from which on the clock is looked at in every turn of the
#: event loop: timers count whole milliseconds, and were 1 to 2 late.
NEAR = 2
#: Looks at most; where no time passes by looking, a timer is waited for.
LOOKS = 1_000
#: Milliseconds before the instant of a few from which on nothing is begun beside a crowd. One in a
#: hundred turns of the event loop is longer then, most of it without a core.
HUSHED = 4

#: In the order of their claims, by project.
Held = dict[Share, list[Attempt]]


class Instants:
    """Attempts held for an instant, lane by lane."""

    def __init__(
        self,
        clock: Clock,
        come: Callable[[Lane, list[Attempt]], None],
        is_crowded: Callable[[Attempt], bool],
    ) -> None:
        self.clock = clock
        self.come = come
        #: Whether others than its project keep the worker busy.
        self.is_crowded = is_crowded
        self.hush = Hush()
        self._held: dict[tuple[int, Lane], Held] = {}

    def add(self, attempt: Attempt) -> None:
        """Hold it until its instant."""
        instant = attempt.claim.run_at, attempt.lane
        together = self._held.setdefault(instant, {})
        is_first = not together
        alike = together.setdefault(attempt.share, [])
        alike.append(attempt)
        loop = asyncio.get_running_loop()
        # The bare one for a crowd: 10,000 started at once were 10 ms later by the other.
        attempt.turn = Turn(loop=loop) if len(alike) < MANY else loop.create_future()
        if is_first:
            self._await(instant, LOOKS)

    def _await(self, instant: tuple[int, Lane], looks: int) -> None:
        """Not a task: at the instant that would stand behind whatever is ready once more."""
        # A timer may end a little early (uvloop: 0.3 ms): the clock decides, never the timer.
        # And the store's clock may be set meanwhile, so it is looked at each second.
        run_at, lane = instant
        held, left = self._held[instant], run_at - self.clock.now()
        if 0 < left <= HUSHED:
            self._keep_quiet(run_at, held)
            left = run_at - self.clock.now()
        if left <= 0:
            for attempts in _few_first(self._held.pop(instant)):
                self.come(lane, attempts)
        elif left <= NEAR and looks and sum(map(len, held.values())) >= MANY:
            asyncio.get_running_loop().call_soon(self._await, instant, looks - 1)
        else:
            # Near enough first: until then it is not known how many come.
            rest = left - next((mark for mark in (HUSHED, NEAR) if left > mark), 0)
            self.clock.call_later(min(rest / 1000, 1.0), partial(self._await, instant, looks))

    def _keep_quiet(self, run_at: int, held: Held) -> None:
        """Begin nothing more: what is sent to a store takes the core, for 2 to 4 ms."""
        few = next((some for some in held.values() if len(some) < MANY), None)
        began = self.clock.monotonic()
        if few and self.hush.is_allowed(began) and self.is_crowded(few[0]):
            self.clock.hold_until(run_at)
            self.hush.was_kept(began, self.clock.monotonic())


def _few_first(held: Held) -> list[list[Attempt]]:
    """Who has few at an instant does not stand behind the thousands of another project."""
    if len(held) == 1:
        return [*held.values()]
    few = [one for some in held.values() if len(some) < MANY for one in some]
    many = [one for some in held.values() if len(some) >= MANY for one in some]
    return [some for some in (few, many) if some]
