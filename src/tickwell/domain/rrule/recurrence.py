"""A recurrence rule as a rule about wall time: asked for the next second, it never walks there.

Days are looked up in lists, one for each year; a search ends after forty years, or after so
many looks, whatever the rule.
"""

from __future__ import annotations

from bisect import bisect_left
from calendar import isleap, monthrange
from datetime import date, datetime
from itertools import product
from math import gcd

from tickwell.domain.rrule.parts import FREQUENCIES, Parts

_DAY = 86_400
_EPOCH = 719_163
#: Years without a day that fires, after which a search ends.
_YEARS = 40
_LAST_YEAR = 9999
#: Looks at units of time, of rules that fire several times a day.
_LOOKS = 5_000
#: Searches that tell what one of them takes.
_SAMPLES = 4
#: Years whose days are remembered.
_KNOWN = 128
#: Seconds of a unit of each frequency below a day.
_UNITS = {"HOURLY": 3600, "MINUTELY": 60, "SECONDLY": 1}


class Recurrence:
    """The wall seconds of a rule from its first on."""

    def __init__(self, parts: Parts, start: datetime) -> None:
        rank = FREQUENCIES.index(parts.frequency)
        self._parts = parts
        self._first_day = start.toordinal() - _EPOCH
        self._start = self._first_day * _DAY + start.hour * 3600 + start.minute * 60 + start.second
        self._begin = start
        self._month_days, self._months, self._days = parts.month_days, parts.months, parts.days
        if not (parts.weeks or parts.year_days or parts.month_days or parts.days):
            if parts.frequency == "YEARLY":
                self._months = parts.months or frozenset({start.month})
            if parts.frequency in {"YEARLY", "MONTHLY"}:
                self._month_days = frozenset({start.day})
            if parts.frequency == "WEEKLY":
                self._days = frozenset({(start.weekday(), 0)})
        self._hours = parts.hours or (frozenset({start.hour}) if rank < 4 else frozenset())
        self._minutes = parts.minutes or (frozenset({start.minute}) if rank < 5 else frozenset())
        self._seconds = parts.seconds or (frozenset({start.second}) if rank < 6 else frozenset())
        #: Times of day, of a rule whose frequency is a day or more.
        self._times: list[int] = []
        if rank < 4:
            each = product(self._hours, self._minutes, self._seconds)
            self._times = sorted(
                hour * 3600 + minute * 60 + second for hour, minute, second in each
            )
        self._unit = _UNITS.get(parts.frequency, 0)
        self._years: dict[int, list[int]] = {}
        #: Days and units of time that were looked at, each of which takes about a microsecond.
        self.looks = 0

    def month_days(self) -> tuple[frozenset[int], list[int]]:
        """Its days of the month, if it names any, and the months that it has them in."""
        months = [month for month in range(1, 13) if not self._months or month in self._months]
        if self._parts.frequency == "MONTHLY":
            apart, begin = gcd(self._parts.interval, 12), self._begin.month
            months = [month for month in months if (month - begin) % apart == 0]
        return self._month_days, months

    def toil(self) -> int:
        """How many looks a search takes, by the dearest of its first."""
        most, wall = 0, self._start
        for _ in range(_SAMPLES):
            before = self.looks
            found = self.at_or_after(wall)
            if found is None:
                break
            if wall > self._start:  # the days of the first year are looked up only once
                most = max(most, self.looks - before)
            wall = found + 1
        return most

    def at_or_after(self, wall: int) -> int | None:
        """The first second of the rule that is not before this one."""
        wall = max(wall, self._start)
        if self._unit:
            return self._in_units(wall)
        return self._chosen(wall) if self._parts.positions else self._daily(wall)

    def _daily(self, wall: int) -> int | None:
        day, second = divmod(wall, _DAY)
        index = bisect_left(self._times, second)
        found = self._next_day(day if index < len(self._times) else day + 1)
        if found is None:
            return None
        return found * _DAY + self._times[index if found == day else 0]

    def _next_day(self, day: int) -> int | None:
        """The first day, not before this one, that fits the rule and its interval."""
        year = first = _year(day)
        while year <= min(first + _YEARS, _LAST_YEAR):
            self.looks += 1
            days = self._of_year(year)
            index = bisect_left(days, day)
            if index < len(days):
                return days[index]
            year += 1
        return None

    def _chosen(self, wall: int) -> int | None:
        """With BYSETPOS: some of what a period has."""
        day = wall // _DAY
        while day < _first_of(_LAST_YEAR + 1):
            found = self._next_day(self._period(day)[0])
            if found is None:
                return None
            end = self._period(found)[1]
            days = [found]
            while (later := self._next_day(days[-1] + 1)) is not None and later < end:
                days.append(later)
            times = self._times
            size = len(days) * len(times)
            for index in sorted(
                each - 1 if each > 0 else size + each for each in self._parts.positions
            ):
                if 0 <= index < size:
                    which, time = divmod(index, len(times))
                    second = days[which] * _DAY + times[time]
                    if second >= wall:
                        return second
            day = end
            if _year(day) > _year(wall // _DAY) + _YEARS:
                return None
        return None

    def _period(self, day: int) -> tuple[int, int]:
        """The first day of the period that a day is in, and the day after its last."""
        moment = date.fromordinal(day + _EPOCH)
        match self._parts.frequency:
            case "YEARLY":
                return _first_of(moment.year), _first_of(moment.year + 1)
            case "MONTHLY":
                first = day - moment.day + 1
                return first, first + monthrange(moment.year, moment.month)[1]
            case "WEEKLY":
                first = day - (moment.weekday() - self._parts.week_start) % 7
                return first, first + 7
        return day, day + 1

    def _in_units(self, wall: int) -> int | None:
        """Hours, minutes or seconds apart; within an hour or minute, those that are listed."""
        unit, interval = self._unit, self._parts.interval
        first = self._start // unit
        at = wall // unit
        inner = self._inner()
        end = _first_of(_year(wall // _DAY) + _YEARS + 1)
        for _ in range(_LOOKS):
            self.looks += 1
            at += -(at - first) % interval
            day, second = divmod(at * unit, _DAY)
            if (found := self._next_day(day)) is None or found >= end:
                return None
            if found > day:
                at = found * _DAY // unit
                continue
            hour, rest = divmod(second, 3600)
            if self._hours and hour not in self._hours:
                at = (day * _DAY + (hour + 1) * 3600) // unit
                continue
            minute, last = divmod(rest, 60)
            if unit < 3600 and self._minutes and minute not in self._minutes:
                at = (day * _DAY + hour * 3600 + (minute + 1) * 60) // unit
                continue
            if unit == 1 and self._seconds and last not in self._seconds:
                at += 1
                continue
            index = bisect_left(inner, wall - at * unit)
            if index < len(inner):
                return at * unit + inner[index]
            at += 1
        return None

    def _inner(self) -> list[int]:
        """The seconds that are listed within a unit."""
        if self._unit == 3600:
            return sorted(m * 60 + s for m, s in product(self._minutes, self._seconds))
        return sorted(self._seconds) if self._unit == 60 else [0]

    def _of_year(self, year: int) -> list[int]:
        """The days of a year that fit, as days since 1970."""
        known = self._years.get(year)
        if known is None:
            if len(self._years) >= _KNOWN:
                self._years.clear()
            known = self._years[year] = self._fitting(year)
        return known

    def _fitting(self, year: int) -> list[int]:
        parts, found = self._parts, list[int]()
        if parts.frequency == "YEARLY" and (year - self._begin.year) % parts.interval:
            return found
        first, length = _first_of(year), 366 if isleap(year) else 365
        day = first
        for month in range(1, 13):
            size = monthrange(year, month)[1]
            if self._fits_month(year, month):
                self.looks += size
                for number in range(1, size + 1):
                    at = day + number - 1
                    if (
                        self._fits_number(number, size)
                        and self._fits_year_day(at - first + 1, length)
                        and self._fits_weekday(at, (number, size), (at - first + 1, length))
                        and self._fits_week(at)
                        and self._fits_interval(at)
                    ):
                        found.append(at)
            day += size
        return found

    def _fits_month(self, year: int, month: int) -> bool:
        if self._months and month not in self._months:
            return False
        if self._parts.frequency != "MONTHLY":
            return True
        begin = self._begin
        apart = (year - begin.year) * 12 + month - begin.month
        return apart % self._parts.interval == 0

    def _fits_number(self, number: int, size: int) -> bool:
        days = self._month_days
        return not days or number in days or number - size - 1 in days

    def _fits_year_day(self, number: int, length: int) -> bool:
        days = self._parts.year_days
        return not days or number in days or number - length - 1 in days

    def _fits_weekday(self, day: int, month: tuple[int, int], year: tuple[int, int]) -> bool:
        if not self._days:
            return True
        weekday = (day + 3) % 7  # 1 January 1970 was a Thursday, 3
        in_month = self._parts.frequency == "MONTHLY" or bool(self._months)
        number, size = month if in_month else year
        ordinals = {0, (number - 1) // 7 + 1, -((size - number) // 7) - 1}
        return any((weekday, index) in self._days for index in ordinals)

    def _fits_week(self, day: int) -> bool:
        """By the week of the year; the first one has at least four days in it."""
        weeks = self._parts.weeks
        if not weeks:
            return True
        start = day - ((day + 3) % 7 - self._parts.week_start) % 7
        year = _year(start + 3)
        number = (start - self._first_week(year)) // 7 + 1
        count = (self._first_week(year + 1) - self._first_week(year)) // 7
        return number in weeks or number - count - 1 in weeks

    def _first_week(self, year: int) -> int:
        """The first day of the first week of a year."""
        fourth = _first_of(year) + 3
        return fourth - ((fourth + 3) % 7 - self._parts.week_start) % 7

    def _fits_interval(self, day: int) -> bool:
        interval = self._parts.interval
        if self._parts.frequency == "DAILY":
            return (day - self._first_day) % interval == 0
        if self._parts.frequency == "WEEKLY":
            first, this = (
                each - ((each + 3) % 7 - self._parts.week_start) % 7
                for each in (self._first_day, day)
            )
            return (this - first) // 7 % interval == 0
        return True


def _year(day: int) -> int:
    return date.fromordinal(min(max(day + _EPOCH, 1), date.max.toordinal())).year


def _first_of(year: int) -> int:
    if year > _LAST_YEAR:
        return date.max.toordinal() + 1 - _EPOCH
    return date(year, 1, 1).toordinal() - _EPOCH
