"""The first instant at which a rule about wall time holds."""

from __future__ import annotations

from typing import Protocol

from tickwell.domain.cron.wall import MARGIN, Wall
from tickwell.domain.cron.zone import FIRST_SECOND, LAST_SECOND


class WallRule(Protocol):
    """Anything that can say which wall second suits it next."""

    def at_or_after(self, wall: int, /) -> int | None: ...


def first_after(rule: WallRule, second: int, wall: Wall) -> int | None:
    """The first instant strictly later than this one, in seconds; None past the year 9999."""
    start, end, offset, low, high, _ = wall.recent
    if start <= second < end:
        begin = second + offset + 1
        found = rule.at_or_after(begin if begin > low else low)  # noqa: FURB136  # max is a call
        if found is not None and found < high:
            return found - offset
    return _search(rule, second, wall)


def first_at(rule: WallRule, second: int, wall: Wall) -> int | None:
    """The first instant not before this one."""
    return first_after(rule, second - 1, wall)


def _search(rule: WallRule, second: int, wall: Wall) -> int | None:
    if second > LAST_SECOND:
        return None
    # The span is that of the last second gone by: what a gap shifts belongs to the span before it.
    second = max(second, FIRST_SECOND)
    span = wall.span(second)
    begin = max(second + span.offset + 1, span.low)
    while (found := rule.at_or_after(begin)) is not None:
        if found < span.high:
            return found - span.offset
        if found < span.gap_end:
            return span.end
        second = span.end
        # Over the years, but never over a fold that would repeat what lies before `begin`.
        if begin < span.high - MARGIN:
            second = max(second, found - span.offset - MARGIN)
        if second > LAST_SECOND:
            return None
        span = wall.span(second)
        begin = max(second + span.offset, span.low)
    return None
