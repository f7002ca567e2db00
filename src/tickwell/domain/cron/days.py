"""Which days of a month match, as bits, for any length of month and weekday of its first."""

from __future__ import annotations

from tickwell.domain.cron.expression import Expression
from tickwell.domain.cron.item import Item, Kind
from tickwell.domain.cron.weekdays import fold_sunday, range_mask

#: A bit every seven days: multiplied by a week's bits it fills a month.
_WEEKS = 1 | 1 << 7 | 1 << 14 | 1 << 21 | 1 << 28

_SATURDAY, _SUNDAY = 6, 0


class Days:
    """The day-of-month and weekday fields, joined by Vixie's rule."""

    __slots__ = ("_both", "_day_bits", "_day_items", "_week_bits", "_week_items")

    def __init__(self, expression: Expression) -> None:
        days, weekdays = expression.items[3], expression.items[5]
        self._both = expression.both_days
        self._day_bits = range_mask(days) >> 1
        self._week_bits = fold_sunday(range_mask(weekdays))
        self._day_items = tuple(item for item in days if item.kind is not Kind.RANGE)
        self._week_items = tuple(item for item in weekdays if item.kind is not Kind.RANGE)

    @property
    def every(self) -> bool:
        """Whether no day is left out."""
        return self._day_bits == (1 << 31) - 1 and self._week_bits == 0x7F

    def mask(self, length: int, first: int) -> int:
        """The matching days of a month by its length and the weekday of its 1st, which is bit 0."""
        days = self._day_bits
        for item in self._day_items:
            days |= _day_bit(item, length, first)
        week = self._week_bits
        weekdays = ((week >> first | week << (7 - first)) & 0x7F) * _WEEKS
        for item in self._week_items:
            weekdays |= _weekday_bit(item, length, first)
        matching = days & weekdays if self._both else days | weekdays
        return matching & ((1 << length) - 1)


def _day_bit(item: Item, length: int, first: int) -> int:
    if item.kind is Kind.LAST_DAY:
        return 1 << (length - 1 - item.low) if item.low < length else 0
    day = length if item.kind is Kind.LAST_WORKDAY else item.low
    return 1 << (_workday(day, length, first) - 1) if day <= length else 0


def _workday(day: int, length: int, first: int) -> int:
    """The Monday to Friday nearest to a day without leaving its month."""
    weekday = (first + day - 1) % 7
    if weekday == _SATURDAY:
        return day - 1 if day > 1 else 3
    if weekday == _SUNDAY:
        return day + 1 if day < length else length - 2
    return day


def _weekday_bit(item: Item, length: int, first: int) -> int:
    day = (item.low - first) % 7 + 1
    if item.kind is Kind.NTH_WEEKDAY:
        return 1 << (day - 1 + 7 * (item.high - 1))
    return 1 << (day - 1 + (length - day) // 7 * 7)
