"""How much of a lane one project uses and may use; what exceeds it waits or is given back."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from tickwell.domain.fairness import NO_LIMIT
from tickwell.engine.claiming.ranked_queue import RankedQueue
from tickwell.ids import spread

if TYPE_CHECKING:
    from tickwell.engine.running.attempt import Attempt

#: A worker that does not know yet how long attempts take hopes for this many milliseconds: with
#: 100 it held 600 of the first 1,000 at an instant. What does not start in time is given back.
HOPED_DURATION = 5.0
#: The weight of the newest duration in the running mean.
WEIGHT = 0.05
#: Milliseconds that an execution is put off, at least and at most. 100,000 that wait for hosts
#: that hang come back 300 or 400 a second; what waits when they recover is late by this much.
SHORTEST, LONGEST = 500, 300_000


class TenantCapacity:
    """What one project has of a lane."""

    __slots__ = (
        "counted_at",
        "held",
        "in_hand",
        "limit",
        "line",
        "mean",
        "moved_at",
        "part",
        "seated",
        "seats",
        "turn",
    )

    def __init__(self) -> None:
        #: How much of the lane's capacity it may take.
        self.seats = NO_LIMIT
        #: How many of the project may run in all workers together; 0: no limit. And the equal
        #: part of each worker: what is put off is claimed by any of them.
        self.limit, self.part = 0, 1.0
        self.seated = 0
        self.in_hand = 0
        #: Due, with free capacity perhaps, but not for this project.
        self.held = RankedQueue()
        self.mean = HOPED_DURATION
        #: When one of its seats was last filled or freed, monotonic.
        self.moved_at = 0.0
        #: When the last one that was put off may expect a seat.
        self.turn = 0.0
        #: How many were to have theirs by then, and when they were counted.
        self.line, self.counted_at = 0.0, 0

    def observe(self, seconds: float) -> None:
        """Learn from an attempt's duration how soon seats come free."""
        self.mean += (seconds * 1000 - self.mean) * WEIGHT

    def is_full(self) -> bool:
        """Whether it has all the seats that it may take."""
        return self.seated >= self.seats

    def startable(self, capacity: int, lead: float) -> int:
        """How many of it a lane's capacity could start within the lead."""
        return 0 if self.seats == 0 else int(capacity * lead / max(self.mean, 0.01))

    def next_held(self) -> Attempt | None:
        """The first that still waits for a seat of the share."""
        while self.held:
            attempt = self.held.popleft()
            if attempt.is_waiting():
                return attempt
        return None

    def expected(self, now: int) -> int:
        """How many were put off, and come back."""
        return ceil(self.line) if self.turn > now else 0

    def put_off(self, id: str, now: int) -> int:
        """Milliseconds until one more of the project may expect a seat.

        Each has its turn as seats come free, so that coming back in vain costs no more than
        running would. Once seats come free faster, so many are soon through: turns that were
        given while hosts hung keep nobody waiting.
        """
        pace, end = max(self.mean, 0.01) / max(self.seats, self.part), float(now + LONGEST)
        through = (now - self.counted_at) / pace
        self.line = min(max(self.line - through, 0.0) + 1, LONGEST / pace)
        self.counted_at = now
        self.turn = min(max(self.turn, float(now)) + pace, now + self.line * pace, end)
        if self.turn > end - 1:
            return LONGEST // 2 + spread(f"{id}:{now}", LONGEST // 2)
        return max(int(self.turn) - now, SHORTEST)
