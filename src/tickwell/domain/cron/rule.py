"""An expression ready to be asked: bit masks, and the month last looked at."""

from __future__ import annotations

from datetime import date
from functools import lru_cache
from itertools import product

from tickwell.domain.cron.beat import find_beat
from tickwell.domain.cron.days import Days
from tickwell.domain.cron.dialect import Dialect, translate
from tickwell.domain.cron.expression import Expression, read, split, words
from tickwell.domain.cron.weekdays import range_mask
from tickwell.domain.cron.year import read_years
from tickwell.errors import InvalidTrigger

_DAY = 86_400
#: The ordinal of 1 January 1970.
_EPOCH = 719_163
_LAST_MONTH = 9999 * 12 + 11
_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

#: first day, day after the last, matching days as bits, year * 12 + month - 1
_Month = tuple[int, int, int, int]


class Rule:
    """Says which wall-clock second matches next. Wall time is counted in seconds since 1970.

    One object is shared by all triggers with the same expression, in all threads: what changes
    is a tuple, replaced whole, and read once for an answer. Who read it again could meet the month
    that another thread has turned to meanwhile, and jump over the rest of its own.
    """

    __slots__ = (
        "_days",
        "_first_of_day",
        "_first_second",
        "_last",
        "_minutes",
        "_month",
        "_months",
        "_seconds",
        "_years",
        "beat",
        "expression",
    )

    def __init__(self, expression: Expression) -> None:
        self.expression = expression
        seconds, minutes, hours, _, months, _ = map(range_mask, expression.items)
        self._seconds = seconds
        self._minutes = sum(minutes << hour * 60 for hour in range(24) if hours >> hour & 1)
        self._months = months >> 1
        self._days = Days(expression)
        self._first_second = _lowest(seconds)
        self._first_of_day = _lowest(self._minutes) * 60 + self._first_second
        #: Set if every day is alike and its fires are evenly apart.
        self.beat = None
        if self._days.every and self._months == 0xFFF:
            self.beat = find_beat(self._minutes, seconds)
        self._years = expression.years
        self._last = _LAST_MONTH if self._years is None else max(self._years) * 12 + 11
        self._refuse_impossible()
        self._month = self._enter(1970 * 12)
        if self._years is not None:
            self.beat = None
            self._refuse_past(self._years)

    @property
    def per_minute(self) -> int:
        """Fires in a minute that matches."""
        return self._seconds.bit_count()

    @property
    def per_day(self) -> int:
        """Fires on a day that matches."""
        return self._minutes.bit_count() * self.per_minute

    def at_or_after(self, wall: int) -> int | None:
        """The first matching second that is not before this one; None past the year 9999."""
        # one second of each minute matches, so whole minutes can be counted
        day, minute = divmod((wall - self._first_second + 59) // 60, 1440)
        first, end, days, index = self._month
        if first <= day < end:
            days >>= day - first
            if days & 1 and (minutes := self._minutes >> minute):
                minute += (minutes & -minutes).bit_length() - 1
                return day * _DAY + minute * 60 + self._first_second
            if days := days >> 1:
                return (day + (days & -days).bit_length()) * _DAY + self._first_of_day
            return self._in_later_month(index)
        return self.at_or_after(wall) if self._turn_to(day) else None

    def _in_later_month(self, index: int) -> int | None:
        while (index := index + 1) <= self._last:
            if self._months >> index % 12 & 1 and self._fires_in(index // 12):
                month = self._enter(index)
                if days := month[2]:
                    self._month = month
                    return (month[0] + _lowest(days)) * _DAY + self._first_of_day
        return None

    def _turn_to(self, day: int) -> bool:
        try:
            moment = date.fromordinal(day + _EPOCH)
        except (ValueError, OverflowError):
            return False
        self._month = self._enter(moment.year * 12 + moment.month - 1)
        return True

    def _enter(self, index: int) -> _Month:
        year, month = divmod(index, 12)
        first = date(year, month + 1, 1).toordinal() - _EPOCH
        length = _LENGTHS[month]
        if month == 1 and year % 4 == 0 and (year % 100 or year % 400 == 0):
            length = 29
        # 1 January 1970 was a Thursday
        matches = self._months >> month & 1 and self._fires_in(year)
        days = self._days.mask(length, (first + 4) % 7) if matches else 0
        return first, first + length, days, index

    def _fires_in(self, year: int) -> bool:
        return self._years is None or year in self._years

    def _refuse_past(self, years: frozenset[int]) -> None:
        if self.at_or_after((date(min(years), 1, 1).toordinal() - _EPOCH) * _DAY) is None:
            raise InvalidTrigger(
                "no year of the expression has such a day",
                field="cron.year",
                hint="29 February is in 2028 and every four years",
            )

    def _refuse_impossible(self) -> None:
        lengths = {_LENGTHS[month] for month in range(12) if self._months >> month & 1}
        if self._months & 2:
            lengths.add(29)
        # every length meets every weekday within 400 years
        if not any(self._days.mask(*month) for month in product(lengths, range(7))):
            day, month, weekday = self.expression.texts[3:]
            raise InvalidTrigger(
                f"no month in {month!r} ever has a day that is {day!r} and a weekday {weekday!r}",
                field="cron.day-of-month",
                hint="For the last day of each month: 0 0 L * *",
            )


class SecondRule(Rule):
    """A rule that matches several seconds of a minute."""

    __slots__ = ()

    def at_or_after(self, wall: int) -> int | None:
        """The first matching second that is not before this one; None past the year 9999."""
        day, minute = divmod(wall // 60, 1440)
        first, end, days, index = self._month
        if first <= day < end:
            days >>= day - first
            minutes = self._minutes >> minute
            if days & 1 and minutes:
                if minutes & 1 and (seconds := self._seconds >> wall % 60):
                    return wall + (seconds & -seconds).bit_length() - 1
                # a minute that has begun is done with: only later ones count
                if minutes := minutes >> 1:
                    minute += (minutes & -minutes).bit_length()
                    return day * _DAY + minute * 60 + self._first_second
            if days := days >> 1:
                return (day + (days & -days).bit_length()) * _DAY + self._first_of_day
            return self._in_later_month(index)
        return self.at_or_after(wall) if self._turn_to(day) else None


def _lowest(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


@lru_cache(maxsize=4096)
def _shared(
    fields: tuple[str, ...],
    *,
    requires_both: bool | None = None,
    years: frozenset[int] | None = None,
    is_translated: bool = False,
) -> Rule:
    expression = read(fields, requires_both=requires_both, years=years, is_translated=is_translated)
    several = range_mask(expression.items[0]).bit_count() > 1
    return SecondRule(expression) if several else Rule(expression)


def parse(text: str, dialect: Dialect = "cron") -> Rule:
    """The one shared rule of an expression without `H`."""
    if dialect == "cron":
        fields = split(text)
        years = read_years(fields[6]) if len(fields) == 7 else None
        return _shared(tuple(fields[:6]), years=years)
    found = translate(words(text), dialect)
    return _shared(
        found.fields, requires_both=found.both_days, years=found.years, is_translated=True
    )
