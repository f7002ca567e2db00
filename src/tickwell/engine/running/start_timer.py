"""Instants: what is held until its time has come, and how exactly that is met."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from tickwell.clock import Clock
from tickwell.engine import garbage
from tickwell.engine.claiming.lane import Lane
from tickwell.engine.claiming.tenant_capacity import Share
from tickwell.engine.hush import Hush
from tickwell.engine.running.attempt import Attempt
from tickwell.engine.running.reporter import MANY
from tickwell.engine.turn import Turn

#: Milliseconds before a crowded instant from which on the clock is looked at in every turn of the
#: event loop: timers count whole milliseconds, and were 1 to 2 late.
NEAR = 2
#: Looks at most; where no time passes by looking, a timer is waited for.
LOOKS = 1_000
#: Milliseconds before the instant of a few from which on nothing is begun beside a crowd. One in a
#: hundred turns of the event loop is longer then, most of it without a core.
HUSHED = 4


class Held:
    """Who waits for an instant, in the order of the claims, and how many of each project."""

    __slots__ = ("attempts", "counts")

    def __init__(self) -> None:
        self.attempts: list[Attempt] = []
        self.counts: dict[Share, int] = {}

    def few(self) -> list[Share]:
        """The projects that have few."""
        return [share for share, count in self.counts.items() if count < MANY]


class Instants:
    """Attempts held for an instant, lane by lane."""

    def __init__(
        self,
        clock: Clock,
        come: Callable[[Lane, list[Attempt]], None],
        is_crowded: Callable[[Lane, Share], bool],
    ) -> None:
        self.clock = clock
        self.come = come
        #: Whether others than a project keep the worker busy.
        self.is_crowded = is_crowded
        #: Asked when an instant has passed. A simulation has another answer: how much garbage there
        #: is depends on what this process did before.
        self.is_littered: Callable[[], bool] = garbage.is_worth_a_look
        self.hush = Hush()
        self._held: dict[tuple[int, Lane], Held] = {}

    def add(self, attempt: Attempt) -> None:
        """Hold it until its instant."""
        instant = attempt.claim.run_at, attempt.lane
        held = self._held.get(instant)
        if held is None:
            held = self._held[instant] = Held()
        held.attempts.append(attempt)
        alike = held.counts[attempt.share] = held.counts.get(attempt.share, 0) + 1
        loop = asyncio.get_running_loop()
        # The bare one for a crowd: 10,000 started at once were 10 ms later by the other.
        attempt.turn = Turn(loop=loop) if alike < MANY else loop.create_future()
        if len(held.attempts) == 1:
            self._await(instant, LOOKS)

    def _await(self, instant: tuple[int, Lane], looks: int) -> None:
        """Not a task: at the instant that would stand behind whatever is ready once more."""
        # A timer may end a little early (uvloop: 0.3 ms): the clock decides, never the timer.
        # And the store's clock may be set meanwhile, so it is looked at each second.
        run_at, lane = instant
        held, left = self._held[instant], run_at - self.clock.now()
        if 0 < left <= HUSHED:
            self._keep_quiet(run_at, lane, held)
            left = run_at - self.clock.now()
        if left <= 0:
            for attempts in _few_first(self._held.pop(instant)):
                self.come(lane, attempts)
            if self.is_littered():
                # Behind the first steps of what has come.
                asyncio.get_running_loop().call_soon(self._look_for_garbage)
        elif left <= NEAR and looks and len(held.attempts) >= MANY:
            asyncio.get_running_loop().call_soon(self._await, instant, looks - 1)
        else:
            # Near enough first: until then it is not known how many come.
            rest = left - next((mark for mark in (HUSHED, NEAR) if left > mark), 0)
            self.clock.call_later(min(rest / 1000, 1.0), partial(self._await, instant, looks))

    def _look_for_garbage(self) -> None:
        """Now, if the next instant is far enough: it holds the event loop for 5 ms and more."""
        free_until = self.clock.now() + garbage.QUIET
        if not any(run_at <= free_until for run_at, _ in self._held):
            garbage.look()

    def _keep_quiet(self, run_at: int, lane: Lane, held: Held) -> None:
        """Begin nothing more: what is sent to a store takes the core, for 2 to 4 ms."""
        few, began = held.few(), self.clock.monotonic()
        if few and self.hush.is_allowed(began) and self.is_crowded(lane, few[0]):
            self.clock.hold_until(run_at)
            self.hush.was_kept(began, self.clock.monotonic())


def _few_first(held: Held) -> list[list[Attempt]]:
    """Who has few at an instant does not stand behind the thousands of another project."""
    few = set(held.few())
    if len(few) in (0, len(held.counts)):
        return [held.attempts]
    return [
        [one for one in held.attempts if one.share in few],
        [one for one in held.attempts if one.share not in few],
    ]
