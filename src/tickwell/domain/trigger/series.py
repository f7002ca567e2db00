"""The wall times that a calendar interval makes from its anchor."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, datetime

_EPOCH = 719_163
_DAY = 86_400
_DAYS_PER_MONTH = 30.436875
_LAST_DAY = date.max.toordinal()


class Series:
    """Each is counted from the anchor, so the 31st comes back after a shorter month."""

    __slots__ = ("_anchor", "_days", "_first", "_months")

    def __init__(self, anchor: datetime, months: int, days: int) -> None:
        self._anchor = anchor
        self._months = months
        self._days = days
        self._first = self._occurrence(0)

    def at_or_after(self, wall: int) -> int | None:
        """The first wall second of the series that is not before this one."""
        if self._first is None or wall <= self._first:
            return self._first
        if not self._months:
            return self._occurrence(-((self._first - wall) // (self._days * _DAY)))
        period = (self._months * _DAYS_PER_MONTH + self._days) * _DAY
        # a month is a few days off its mean, however many are added up
        count = max(int((wall - self._first) / period) - 2, 0)
        while (found := self._occurrence(count)) is not None and found < wall:
            count += 1
        return found

    def _occurrence(self, count: int) -> int | None:
        start = self._anchor
        year, month = divmod(start.year * 12 + start.month - 1 + self._months * count, 12)
        if year > 9999:
            return None
        last = monthrange(year, month + 1)[1]
        day = date(year, month + 1, min(start.day, last)).toordinal() + self._days * count
        if day > _LAST_DAY:
            return None
        return (day - _EPOCH) * _DAY + start.hour * 3600 + start.minute * 60 + start.second
