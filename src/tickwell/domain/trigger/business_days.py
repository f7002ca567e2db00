"""Fires that are moved from weekends and holidays to a business day."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tickwell.domain.cron import name_weekdays, weekday_mask
from tickwell.domain.cron.search import WallRule
from tickwell.domain.trigger.calendar import (
    NO_CALENDARS,
    Calendar,
    CalendarsField,
    calendars_of,
    closed_days,
)
from tickwell.domain.trigger.choice import check_choice
from tickwell.errors import InvalidTrigger

_DAY = 86_400
#: Days in a row without business; more would move a fire into another month altogether.
LONGEST = 31
_MOST = 16


@dataclass(frozen=True, slots=True)
class BusinessDays:
    """Moves each fire on a weekend or holiday to the next or previous business day.

    The time of day stays. Fires that come together by it are one.
    """

    shift: Literal["next", "previous"] = "next"
    #: Days that are not worked on, besides weekends.
    holidays: CalendarsField = NO_CALENDARS
    #: Weekdays that are not worked on: "sat,sun", "fri,sat".
    weekend: str = "sat,sun"

    def __post_init__(self) -> None:
        check_choice(self.shift, ("next", "previous"), "business_days.shift")
        holidays = calendars_of(self.holidays, "business_days.holidays", _MOST)
        object.__setattr__(self, "holidays", holidays)
        if not isinstance(self.weekend, str) or len(self.weekend) > 64:
            hint = "For example: fri,sat"
            raise InvalidTrigger(
                "weekdays are a short text", field="business_days.weekend", hint=hint
            )
        try:
            mask = weekday_mask(self.weekend) if self.weekend else 0
        except InvalidTrigger as error:
            field = "business_days.weekend"
            raise InvalidTrigger(error.reason, field=field, hint=error.hint) from None
        if mask == 0x7F:
            reason = "leaves no business day in a week"
            raise InvalidTrigger(reason, field="business_days.weekend", hint="Leave a day out")
        _Closed(mask, holidays)

    def explain(self) -> str:
        """In words: "moved to the next business day from Saturday and Sunday"."""
        mask = weekday_mask(self.weekend) if self.weekend else 0
        closed = [name_weekdays(mask)] if mask else []
        if self.holidays:
            closed.append("the dates of " + ", ".join(each.name for each in self.holidays))
        return f"moved to the {self.shift} business day from {' and '.join(closed) or 'no day'}"

    def rule(self, rule: WallRule) -> ShiftedRule:
        """A rule about wall time, with its fires moved."""
        mask = weekday_mask(self.weekend) if self.weekend else 0
        return ShiftedRule(rule, _Closed(mask, self.holidays), self.shift)

    def check_zone(self, tz: str) -> None:
        """Holidays are days of the trigger's own zone."""
        for each in self.holidays:
            if each.tz not in {None, tz}:
                reason = f"the days of {each.name} are those of {each.tz}, the fires those of {tz}"
                hint = "Leave tz of the calendar out"
                raise InvalidTrigger(reason, field="business_days.holidays", hint=hint)


def check_business_days(value: object) -> BusinessDays | None:
    """Refuse what is something else."""
    if value is None or isinstance(value, BusinessDays):
        return value
    hint = 'For example: BusinessDays("next", holidays=Calendar(…))'
    raise InvalidTrigger("must be BusinessDays", field="business_days", hint=hint)


class _Closed:
    """Which days since 1970 are no business days."""

    __slots__ = ("_ends", "_starts", "_weekend")

    def __init__(self, weekend: int, holidays: Sequence[Calendar]) -> None:
        self._weekend = weekend
        spans = closed_days(holidays)
        self._starts = [start for start, _ in spans]
        self._ends = [end for _, end in spans]
        for start, end in spans:
            if end - start > LONGEST or self._later(start) - self._earlier(start) > LONGEST + 1:
                reason = f"the holidays leave no business day for more than {LONGEST} days"
                hint = "For such a pause, use exclude"
                raise InvalidTrigger(reason, field="business_days.holidays", hint=hint)

    def holds(self, day: int) -> bool:
        """Whether a day is closed."""
        if self._weekend >> (day + 4) % 7 & 1:  # 1 January 1970 was a Thursday
            return True
        index = bisect_right(self._starts, day)
        return bool(index) and day < self._ends[index - 1]

    def open_from(self, day: int) -> int:
        """The first business day that is not before a day."""
        return self._later(day) if self.holds(day) else day

    def open_until(self, day: int) -> int:
        """The last business day that is not after a day."""
        return self._earlier(day) if self.holds(day) else day

    def _later(self, day: int) -> int:
        return next((at for at in range(day + 1, day + LONGEST + 2) if not self.holds(at)), 1 << 40)

    def _earlier(self, day: int) -> int:
        return next((at for at in range(day - 1, day - LONGEST - 2, -1) if not self.holds(at)), 0)

    def moved_to(self, day: int, shift: str) -> tuple[int, int]:
        """The first and last of the days whose fires happen on a business day."""
        if shift == "next":
            return self._earlier(day) + 1, day
        return day, self._later(day) - 1


class ShiftedRule:
    """A rule about wall time whose fires on closed days are moved."""

    __slots__ = ("_closed", "_rule", "_shift")

    def __init__(self, rule: WallRule, closed: _Closed, shift: str) -> None:
        self._rule = rule
        self._closed = closed
        self._shift = shift

    def at_or_after(self, wall: int) -> int | None:
        """The first wall second, not before this one, at which a moved fire happens."""
        day, second = divmod(wall, _DAY)
        business = self._closed.open_from(day)
        least = second if business == day else 0
        while True:
            first, last = self._closed.moved_to(business, self._shift)
            found = self._earliest(first, last, least)
            if found is not None:
                return business * _DAY + found
            later = self._rule.at_or_after((last + 1) * _DAY)
            if later is None:
                return None
            day, least = later // _DAY, 0
            is_next = self._shift == "next"
            business = self._closed.open_from(day) if is_next else self._closed.open_until(day)

    def _earliest(self, first: int, last: int, least: int) -> int | None:
        """The earliest time of day, not before another, of the fires on some days."""
        best: int | None = None
        day = first
        while day <= last:
            nominal = self._rule.at_or_after(day * _DAY + least)
            if nominal is None:
                break
            at, second = divmod(nominal, _DAY)
            if at == day:
                best = second if best is None else min(best, second)
                day += 1
            else:
                day = at
        return best
