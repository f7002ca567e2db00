"""One entry of a field's list: a range with a step, or one of the special days."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from tickwell.domain.cron.field import DAY, WEEKDAY, Field
from tickwell.errors import InvalidTrigger


class Kind(Enum):
    """What an item stands for."""

    RANGE = "range"  # low to high, every step
    LAST_DAY = "last-day"  # low days before the last of the month
    LAST_WORKDAY = "last-workday"  # the last Monday to Friday of the month
    NEAREST_WORKDAY = "nearest-workday"  # the Monday to Friday nearest to day low
    LAST_WEEKDAY = "last-weekday"  # the last weekday low of the month
    NTH_WEEKDAY = "nth-weekday"  # weekday low for the high-th time in the month


class Item(NamedTuple):
    """A kind and its numbers."""

    kind: Kind
    low: int = 0
    high: int = 0
    step: int = 1

    def mask(self) -> int:
        """A range's values as bits."""
        length = (self.high - self.low) // self.step * self.step + self.step
        # 0b11111111 // 0b11 is 0b01010101: a bit every step
        return ((1 << length) - 1) // ((1 << self.step) - 1) << self.low


_LAST_DAY = re.compile(r"l(?:-([0-9]{1,2}))?")
_NEAREST = re.compile(r"([0-9]{1,2})w")
_LAST_OF = re.compile(r"([0-9]|[a-z]{3})l")
_NTH = re.compile(r"([0-9]|[a-z]{3})#([0-9]+)")


@lru_cache(maxsize=2048)
def read_items(field: Field, text: str) -> tuple[Item, ...]:
    """All items of one field, in the order written."""
    return tuple(_read_item(field, term) for term in text.lower().split(","))


def _read_item(field: Field, term: str) -> Item:
    if not term:
        field.refuse("has an empty entry in its list")
    special = None
    if field is DAY:
        special = _special_day(term)
    elif field is WEEKDAY:
        special = _special_weekday(term)
    return special or _read_range(field, term)


def _special_day(term: str) -> Item | None:
    if term == "lw":
        return Item(Kind.LAST_WORKDAY)
    if match := _LAST_DAY.fullmatch(term):
        before = int(match[1] or 0)
        if before > DAY.high - 1:
            DAY.refuse(f"cannot be {before} days before the last", "L-3")
        return Item(Kind.LAST_DAY, before)
    if match := _NEAREST.fullmatch(term):
        return Item(Kind.NEAREST_WORKDAY, DAY.value(match[1]))
    return None


def _special_weekday(term: str) -> Item | None:
    if term == "l":
        WEEKDAY.refuse("'L' needs the weekday before it", "5L, the last Friday of the month")
    if match := _LAST_OF.fullmatch(term):
        return Item(Kind.LAST_WEEKDAY, WEEKDAY.value(match[1]) % 7)
    if match := _NTH.fullmatch(term):
        nth = int(match[2])
        if not 1 <= nth <= 5:
            WEEKDAY.refuse(f"has week {nth}, outside 1-5", "1#2, the second Monday of the month")
        return Item(Kind.NTH_WEEKDAY, WEEKDAY.value(match[1]) % 7, nth)
    return None


def _read_range(field: Field, term: str) -> Item:
    body, slash, step_text = term.partition("/")
    step = _read_step(field, step_text) if slash else 1
    if body == "*":
        return Item(Kind.RANGE, field.low, field.high, step)
    if body == "?":
        if field not in (DAY, WEEKDAY) or slash:
            reason = "cannot be '?', which stands alone for any day or weekday"
            if field is not WEEKDAY and field is not DAY:
                raise InvalidTrigger(
                    f"{field.name} {reason}",
                    field=f"cron.{field.name}",
                    hint='For EventBridge, use dialect="aws"',
                )
            field.refuse(reason)
        return Item(Kind.RANGE, field.low, field.high)
    first, dash, last = body.partition("-")
    low = field.value(first)
    if not dash:
        return Item(Kind.RANGE, low, field.high if slash else low, step)
    # a week may be said to end on Sunday: fri-sun
    high = 7 if field is WEEKDAY and last == "sun" and low else field.value(last)
    if high < low:
        field.refuse(f"range {body} runs backwards", _around(field, first, last, step))
    return Item(Kind.RANGE, low, high, step)


def _around(field: Field, first: str, last: str, step: int) -> str:
    """What a range means that goes past the end of its field: 22-2 is 22-23,0-2."""
    low, high = field.value(first), field.value(last)
    if step > 1:
        return ",".join(map(str, field.values(low, high)[::step]))
    named = not first.isdecimal()
    end = field.names[-1] if named else str(field.last)
    begin = field.names[0] if named else str(field.low)
    head = first if low >= field.last else f"{first}-{end}"
    return f"{head},{last if high == field.low else f'{begin}-{last}'}"


def _read_step(field: Field, text: str) -> int:
    if not text.isdecimal():
        field.refuse(f"has the step {text!r}, which is not a whole number")
    step = int(text)
    if not 1 <= step <= field.size:
        field.refuse(f"has the step {text}, and only 1 to {field.size} can be taken")
    return step
