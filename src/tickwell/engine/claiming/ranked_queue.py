"""A queue of attempts that are due and wait for capacity, best rank first."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tickwell.engine.running.attempt import Attempt

_rank = attrgetter("rank")


class RankedQueue(deque["Attempt"]):
    """The best is on the left. What joins goes before whatever has a worse rank."""

    __slots__ = ()

    def join(self, attempts: Sequence[Attempt]) -> None:
        """Take in attempts, behind those of the same rank.

        Nearly always they belong at the end, in their order: then nothing is sorted. Where they do
        not, both parts are in order, and merging 10,000 takes a millisecond.
        """
        if not attempts:
            return
        in_order = all(one.rank <= following.rank for one, following in pairwise(attempts))
        is_last = not self or self[-1].rank <= attempts[0].rank
        self.extend(attempts)
        if not (in_order and is_last):
            merged = sorted(self, key=_rank)
            self.clear()
            self.extend(merged)
