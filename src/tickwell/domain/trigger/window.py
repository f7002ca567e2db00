"""Windows: the hours of the week in which a trigger may fire."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from tickwell.domain.cron import check_zone, name_weekdays, weekday_mask
from tickwell.errors import InvalidTrigger

_DAY = 86_400
_WEEK = 7 * _DAY
_TIME = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?")


@dataclass(frozen=True, slots=True)
class Window:
    """Open on some weekdays from one time of day until, but not at, another.

    One that closes earlier than it opens crosses midnight, and belongs to the day it opens on.
    """

    #: "mon-fri", "sat,sun"; "*" for every day.
    days: str = "*"
    #: When it opens: "09:00" or "09:00:00".
    opens: str = "00:00"
    #: When it closes; "24:00" is the end of the day.
    closes: str = "24:00"
    #: The zone; None for that of the trigger, which is UTC where it has none.
    tz: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.days, str) or len(self.days) > 64:
            hint = "For example: mon-fri"
            raise InvalidTrigger("weekdays are a short text", field="within.days", hint=hint)
        try:
            weekday_mask(self.days)
        except InvalidTrigger as error:
            raise InvalidTrigger(error.reason, field="within.days", hint=error.hint) from None
        if time_of_day(self.opens, "within.from") == time_of_day(self.closes, "within.to"):
            hint = "For the whole day: from 00:00 to 24:00"
            raise InvalidTrigger("closes when it opens", field="within.to", hint=hint)
        if time_of_day(self.opens, "within.from") == _DAY:
            hint = "For example: 00:00"
            raise InvalidTrigger("opens after the day has ended", field="within.from", hint=hint)
        if self.tz is not None:
            object.__setattr__(self, "tz", check_zone(self.tz, "within.tz"))

    def explain(self) -> str:
        """In words: "Monday to Friday 09:00 to 17:00 Europe/Rome"."""
        zone = f" {self.tz}" if self.tz else ""
        return f"{name_weekdays(weekday_mask(self.days))} {self.opens} to {self.closes}{zone}"

    def hours(self) -> list[tuple[int, int]]:
        """The open stretches as seconds of the week from Sunday 00:00, none across its end."""
        mask = weekday_mask(self.days)
        opens, closes = time_of_day(self.opens, ""), time_of_day(self.closes, "")
        length = closes - opens if closes > opens else closes - opens + _DAY
        stretches = []
        for weekday in range(7):
            if mask >> weekday & 1:
                start = weekday * _DAY + opens
                stretches.append((start, min(start + length, _WEEK)))
                if start + length > _WEEK:
                    stretches.append((0, start + length - _WEEK))
        return stretches


class OpenHours:
    """All windows of one zone as a rule about wall time."""

    __slots__ = ("_ends", "_starts")

    def __init__(self, windows: list[Window]) -> None:
        merged: list[tuple[int, int]] = []
        for start, end in sorted(stretch for window in windows for stretch in window.hours()):
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((start, end))
        self._starts = [start for start, _ in merged]
        self._ends = [end for _, end in merged]

    def at_or_after(self, wall: int) -> int | None:
        """The first open wall second that is not before this one."""
        # 1 January 1970 was a Thursday
        second = (wall + 4 * _DAY) % _WEEK
        index = bisect_right(self._starts, second)
        if index and second < self._ends[index - 1]:
            return wall
        if index < len(self._starts):
            return wall - second + self._starts[index]
        return wall - second + _WEEK + self._starts[0]


def time_of_day(text: object, field: str) -> int:
    """Seconds since midnight."""
    match = _TIME.fullmatch(text) if isinstance(text, str) else None
    if match:
        hour, minute, second = (int(part or 0) for part in match.groups())
        total = hour * 3600 + minute * 60 + second
        if minute < 60 and second < 60 and total <= _DAY:
            return total
    raise InvalidTrigger(f"{text!r} is not a time of day", field=field, hint="For example: 09:00")
