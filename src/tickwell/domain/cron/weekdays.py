"""Weekdays apart from an expression, as windows name them."""

from __future__ import annotations

from tickwell.domain.cron.field import WEEKDAY
from tickwell.domain.cron.item import Item, Kind, read_items


def fold_sunday(mask: int) -> int:
    """Weekday 7 is Sunday as 0 is."""
    return (mask | mask >> 7) & 0x7F


def range_mask(items: tuple[Item, ...]) -> int:
    """The values of all ranges among the items, as bits."""
    mask = 0
    for item in items:
        if item.kind is Kind.RANGE:
            mask |= item.mask()
    return mask


def weekday_mask(text: str) -> int:
    """Seven bits, Sunday lowest, for 'mon-fri' or 'sat,sun'."""
    items = read_items(WEEKDAY, text)
    if any(item.kind is not Kind.RANGE for item in items):
        WEEKDAY.refuse(f"{text!r} names a week of the month")
    return fold_sunday(range_mask(items))
