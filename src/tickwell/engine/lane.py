"""Lanes: how much a worker runs at once, of tasks or of threads, and how far it claims ahead."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tickwell.engine.attempt import Attempt

#: A worker that does not know yet how long attempts take hopes for this many milliseconds: with
#: 100 it held 600 of the first 1,000 at an instant. What does not start in time is given back.
HOPED_DURATION = 5.0
#: Batches that all workers together claim beyond their slots, so that a burst does not wait for
#: claims: 10,000 at one instant with the default batch.
AHEAD = 20
#: The weight of the newest duration in the running mean.
WEIGHT = 0.05


class Lane:
    """Slots of one sort. Claims beyond the slots are those that can start within the lead."""

    def __init__(self, name: str, slots: int, batch: int, lead: float) -> None:
        self.name = name
        self.slots = slots
        self.batch = batch
        self.lead = lead * 1000
        #: Attempts whose task exists: prepared, running, or abandoned and still taking the slot.
        self.busy = 0
        self.in_hand = 0
        #: Told as timed out or given back, and still taking a slot.
        self.abandoned = 0
        #: Due, waiting for a slot.
        self.ready: deque[Attempt] = deque()
        self.mean = HOPED_DURATION
        #: Workers, this one among them, that claim from the same queues.
        self.company = 1
        #: When a slot was last filled or freed, monotonic.
        self.moved_at = 0.0

    def observe(self, seconds: float) -> None:
        """Learn from an attempt's duration how far ahead it is worth claiming."""
        self.mean += (seconds * 1000 - self.mean) * WEIGHT

    def ahead(self) -> int:
        """How many more than the slots can be started within the lead.

        No more than this worker's share, so that the others have theirs of a burst.
        """
        if self.lead <= 0:
            return 0
        moving = self.slots - self.abandoned
        share = max(AHEAD // self.company, 1) * self.batch
        return min(int(moving * self.lead / max(self.mean, 0.01)), share)

    def room(self) -> int:
        """How many to claim now.

        With every slot taken, nothing until a batch is worth it, or half of what may be in hand:
        a claim of many costs little more than a claim of one. A free slot is filled at once.
        """
        slots = self.slots - self.abandoned
        capacity = slots + self.ahead()
        room = min(capacity - self.in_hand, self.batch)
        if self.in_hand >= slots and room < min(self.batch, capacity - capacity // 2):
            return 0
        return max(room, 0)

    def excess(self) -> int:
        """How many of those that wait for a slot others would start sooner, if there are others.

        Durations turned out longer than was hoped: twice what can be started in time is in hand.
        """
        capacity = self.slots - self.abandoned + self.ahead()
        if self.company == 1 or self.in_hand <= 2 * capacity:
            return 0
        return min(self.in_hand - capacity, len(self.ready))
