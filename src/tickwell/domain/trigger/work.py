"""How much a search for a fire time may cost, whatever the trigger.

Counted, not timed: every process gives up at the same point.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from tickwell.domain.cron import Wall

#: For one fire time. One is about 2 µs, so this is some 25 ms: a union of 64 members that are each
#: turned away every day finds a fire half a year ahead.
SEARCH = 12_000
#: For all that is tried while one document is read.
READING = 17_000
#: A year of a zone that nobody looked at before: its changes are found by probing.
_YEAR = 75
#: A leap over many years walks through their months; from before all time it does not.
_FAR = 40


class Spent(Exception):
    """The search gave up."""


class Work:
    """What was done, and what may be done."""

    __slots__ = ("_most", "_seen", "gave_up", "members", "reached", "used")

    def __init__(self, most: int = SEARCH) -> None:
        self.used = 0
        #: Whether a search of fire times ended because it cost too much, and up to which instant,
        #: inclusive, nothing fires that it has not told of.
        self.gave_up = False
        self.reached: int | None = None
        #: Triggers in unions that were begun to be read, equal ones each.
        self.members = 0
        self._most = most
        self._seen: set[tuple[Wall, int]] = set()

    @property
    def is_endless(self) -> bool:
        """Whether anything may be done."""
        return self._most == sys.maxsize

    @property
    def is_spent(self) -> bool:
        """Whether nothing more may be done."""
        return self.used > self._most

    def spend(self, cost: int) -> None:
        """Count; give up when it is too much."""
        self.used += cost
        if self.used > self._most:
            raise Spent

    def leap(self, cost: int, zones: tuple[Wall, ...], since: int, until: int) -> None:
        """Count a look for a fire time; over the years it costs more."""
        first, last = since >> 35, until >> 35  # 398 days
        if first != last:
            cost += min(last - first, _FAR)
            for zone in zones:
                if (zone, last) not in self._seen:
                    self._seen.add((zone, last))
                    cost += _YEAR
        self.spend(cost)

    def renew(self) -> None:
        """A fire time was found: the next one may cost as much again."""
        self._most = self.used + SEARCH


#: Trials that cost more than this are remembered, and so many; then all are forgotten.
_SMALL, _MOST = 50, 4096
_known: dict[int, int] = {}
_reading: ContextVar[Work | None] = ContextVar("reading", default=None)


@contextmanager
def one_reading(*, anew: bool = False) -> Iterator[None]:
    """All triggers that are made in here share what may be spent on trying them.

    Anew: whatever was spent before, for what is known to fire.
    """
    if _reading.get() is not None and not anew:
        yield
        return
    token = _reading.set(Work(READING))
    try:
        yield
    finally:
        _reading.reset(token)


@contextmanager
def tried_before() -> Iterator[None]:
    """Triggers that are made in here are taken as they are: a store gives back what it was given.

    Tried again, a list of 160 unions held the event loop for seconds; and one that was good when it
    was saved has to be read by processes that count otherwise, or know other time zones.
    """
    token = _reading.set(Work(sys.maxsize))
    try:
        yield
    finally:
        _reading.reset(token)


def is_tried() -> bool:
    """Whether triggers are taken as they are."""
    work = _reading.get()
    return work is not None and work.is_endless


def trial() -> Work:
    """What may be spent on trying a trigger that is being made."""
    return _reading.get() or Work(READING)


def tried(key: int, search: Callable[[Work], bool]) -> bool:
    """Whether a trigger with this hash ever fires; it is searched once.

    Saving a job makes its triggers several times. What it cost counts each time: a trigger
    is not taken because parts of it were tried before.
    """
    work = trial()
    known = _known.get(key)
    if known is not None:
        work.spend(known)
        return True
    before = work.used
    if not search(work):
        return False
    if work.used - before > _SMALL:
        if len(_known) >= _MOST:
            _known.clear()
        _known[key] = work.used - before
    return True
