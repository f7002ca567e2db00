"""Wall time in a zone: spans of constant offset, and what becomes of hours missing or repeated.

    clocks forward  |--- span, +1 ---|gap|--- span, +2 ---|
    clocks back     |--- span, +2 ---------|
                              |fold--- span, +1 ---------|

Within a span, wall time and instants differ by a constant, so almost every question is
answered in integers without asking zoneinfo.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple
from zoneinfo import ZoneInfo

from tickwell.domain.cron.zone import FIRST_SECOND, LAST_SECOND, Change, changes, offset_at

Gap = Literal["shift", "skip"]
Fold = Literal["first", "last", "both"]

#: Spans are found per 2**25 seconds (388 days), and cut there.
_BLOCK = 25
#: Longer than any gap or fold: what touches a block from outside is seen.
MARGIN = 2 * 86_400


class Span(NamedTuple):
    """Instants from start to end (exclusive) with one offset, and the wall times that count."""

    start: int
    end: int
    offset: int
    #: The first wall second that counts.
    low: int
    #: The wall second after the last that counts.
    high: int
    #: Wall seconds from high until here are missing, and run at the end of the span.
    gap_end: int


class Wall:
    """A zone and its rules for missing and repeated hours; one shared object for each."""

    __slots__ = ("_fold", "_gap", "_zone", "recent")

    def __init__(self, zone: str, gap: Gap, fold: Fold) -> None:
        self._zone = zone
        self._gap = gap
        self._fold = fold
        #: The span last asked for, mostly the one asked for next; a bare tuple, as it unpacks
        #: four times as fast.
        self.recent: tuple[int, int, int, int, int, int] = (0, 0, 0, 0, 0, 0)
        if zone == "UTC":
            self.recent = (*_ALWAYS,)

    def span(self, second: int) -> Span:
        """The span that holds an instant, in seconds."""
        for span in _spans(self._zone, self._gap, self._fold, second >> _BLOCK):
            if second < span.end:
                break
        self.recent = (*span,)
        return span


_ALWAYS = Span(FIRST_SECOND, LAST_SECOND + 1, 0, FIRST_SECOND, LAST_SECOND + 1, LAST_SECOND + 1)


@lru_cache(maxsize=1024)
def wall(zone: str, gap: Gap = "skip", fold: Fold = "both") -> Wall:
    """The shared wall of a zone. Without rules every second counts as often as it happens."""
    return Wall(zone, gap, fold)


@lru_cache(maxsize=4096)
def _spans(zone: str, gap: Gap, fold: Fold, block: int) -> tuple[Span, ...]:
    if zone == "UTC":
        return (_ALWAYS,)
    start = max(block << _BLOCK, FIRST_SECOND)
    end = min((block + 1) << _BLOCK, LAST_SECOND + 1)
    found = _changes_around(zone, start, end)
    spans = []
    for last, coming in pairwise(found):
        if last.instant < end and coming.instant > start:
            spans.append(_span((start, end), last, coming, gap, fold))
    return tuple(spans)


def changes_within(zone: str, low: int, high: int) -> list[Change]:
    """All changes of the offset in (low, high], from blocks that are remembered."""
    found: dict[int, Change] = {}
    for block in range(low >> _BLOCK, (high >> _BLOCK) + 1):
        start, end = max(block << _BLOCK, FIRST_SECOND), min((block + 1) << _BLOCK, LAST_SECOND + 1)
        for change in _changes_around(zone, start, end):
            if low < change.instant <= high and change.before != change.after:
                found[change.instant] = change
    return list(found.values())


@lru_cache(maxsize=8192)
def _changes_around(zone: str, start: int, end: int) -> list[Change]:
    low, high = start - MARGIN, end + MARGIN
    first, last = (offset_at(ZoneInfo(zone), second) for second in (low, high))
    return [Change(low, first, first), *changes(zone, low, high), Change(high, last, last)]


def _span(block: tuple[int, int], last: Change, coming: Change, gap: Gap, fold: Fold) -> Span:
    start, end = max(last.instant, block[0]), min(coming.instant, block[1])
    offset = last.after
    low, high = start + offset, end + offset
    if fold == "first":
        low = max(low, last.instant + last.before)
    if fold == "last":
        high = min(high, coming.instant + coming.after)
    gap_end = high
    if gap == "shift" and end == coming.instant:
        gap_end = coming.instant + coming.after
    return Span(start, end, offset, low, high, gap_end)
