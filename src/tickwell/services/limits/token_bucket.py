"""Token buckets: so many in a window, refilled evenly, kept in the memory of this process."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from math import ceil

#: Buckets that are remembered; the fullest are forgotten first, because a new one is full.
MOST = 50_000


@dataclass(frozen=True, slots=True)
class Rate:
    """So many in so many milliseconds."""

    limit: int
    window: int


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of asking."""

    allowed: bool
    remaining: int
    #: Seconds until the bucket is full again, or, when refused, until there are enough.
    reset: int


class Buckets:
    """One bucket for each key."""

    def __init__(self, rate: Rate) -> None:
        self.rate = rate
        #: Tokens, and as of when.
        self._levels: dict[Hashable, tuple[float, int]] = {}

    def take(self, key: Hashable, now: int, count: int = 1) -> Taken:
        """Take so many, if there are as many; none otherwise."""
        limit, window = self.rate.limit, self.rate.window
        level = self.level(key, now)
        if level < count:
            reset = ceil((count - level) * window / limit / 1000)
            return Taken(allowed=False, remaining=max(int(level), 0), reset=reset)
        if key not in self._levels and len(self._levels) >= MOST:
            self._forget(now)
        self._levels[key] = (level - count, now)
        reset = ceil((limit - level + count) * window / limit / 1000)
        return Taken(allowed=True, remaining=int(level - count), reset=reset)

    def spend(self, key: Hashable, count: int, at: int, now: int) -> None:
        """Take away what was taken elsewhere at an instant, whether or not there is as much.

        What is missing is owed, up to one limit: else whoever takes each as it is refilled would
        get as many in every place.
        """
        if key not in self._levels and len(self._levels) >= MOST:
            self._forget(now)
        limit = float(self.rate.limit)
        since = max(self._levels.get(key, (limit, at))[1], at)
        self._levels[key] = (max(self.level(key, since) - count, -limit), since)

    def level(self, key: Hashable, now: int) -> float:
        """How many are left; fewer than none: how many are owed."""
        known = self._levels.get(key)
        if known is None:
            return float(self.rate.limit)
        level, at = known
        refilled = max(now - at, 0) * self.rate.limit / self.rate.window
        return min(level + refilled, float(self.rate.limit))

    def _forget(self, now: int) -> None:
        """The fuller half goes: who is throttled stays so."""
        by_level = sorted(self._levels, key=lambda key: self.level(key, now))
        self._levels = {key: self._levels[key] for key in by_level[: MOST // 2]}
