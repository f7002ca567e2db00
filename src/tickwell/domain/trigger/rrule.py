"""Fires by a recurrence rule of RFC 5545."""

from __future__ import annotations

import sys
from bisect import bisect_left
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

from tickwell.domain.cron import Wall, first_after, missing_day, wall
from tickwell.domain.cron.search import WallRule
from tickwell.domain.cron.wall import Fold, Gap
from tickwell.domain.cron.zone import UNNAMED
from tickwell.domain.rrule import Parts, Recurrence, read_parts
from tickwell.domain.trigger.business_days import BusinessDays, check_business_days
from tickwell.domain.trigger.calendar_every import wall_time, zone_of
from tickwell.domain.trigger.choice import check_choice
from tickwell.domain.trigger.trigger import Trigger
from tickwell.domain.trigger.work import is_tried
from tickwell.errors import InvalidTrigger

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - wall time
_DAY = 86_400
#: Single dates that are added or left out.
_MOST = 500
_LEAST_TOIL = 10
#: What counting COUNT may take: a rule of every day for 150 years is counted.
_LOOKS = 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RRule(Trigger):
    """By `FREQ=MONTHLY;BYDAY=-1FR`, from a first wall time on."""

    #: The rule, with or without "RRULE:".
    rrule: str = field(kw_only=False)
    #: Where it begins, and what it leaves open: the wall time of the zone.
    dtstart: datetime = field(kw_only=False)
    tz: str = UNNAMED
    #: Wall times that are left out.
    exdates: tuple[datetime, ...] = ()
    #: Wall times that fire as well.
    rdates: tuple[datetime, ...] = ()
    #: A time of day that is missing when clocks go forward: at the first instant after, or not.
    dst_gap: Gap = "shift"
    #: A time of day that happens twice when clocks go back: which of the two.
    dst_fold: Fold = "first"
    #: Moves fires from weekends and holidays to a business day.
    business_days: BusinessDays | None = None
    _when: WallRule = field(init=False, repr=False, compare=False)
    _wall: Wall = field(init=False, repr=False, compare=False)
    #: What a search costs, in units of `Work`.
    _cost: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        text, parts = read_parts(self.rrule)
        object.__setattr__(self, "rrule", text)
        object.__setattr__(self, "tz", zone_of(self.tz, self.dtstart))
        check_choice(self.dst_gap, ("shift", "skip"), "dst_gap")
        check_choice(self.dst_fold, ("first", "last", "both"), "dst_fold")
        object.__setattr__(self, "dtstart", wall_time(self.dtstart, self.tz, "dtstart"))
        for name in ("exdates", "rdates"):
            object.__setattr__(self, name, _several(getattr(self, name), self.tz, name))
        recurrence = Recurrence(parts, self.dtstart)
        cost = max(_LEAST_TOIL, recurrence.toil() // 2)  # a unit of it is about two looks
        object.__setattr__(self, "_cost", cost if self.business_days is None else cost * 4)
        rule: WallRule = recurrence
        until = _until(parts, self.tz)
        if parts.count is not None:
            most = sys.maxsize if is_tried() else _LOOKS
            until = _last_counted(parts, self.dtstart, most)
        if until is not None:
            rule = _Limited(rule, until)
        if self.exdates or self.rdates:
            rule = _Edited(rule, _seconds(self.exdates), _seconds(self.rdates))
        if not is_tried() and rule.at_or_after(_second(self.dtstart)) is None:
            hint = "For example: FREQ=MONTHLY;BYDAY=-1FR"
            raise InvalidTrigger("the rule never fires", field="rrule", hint=hint)
        shift = check_business_days(self.business_days)
        if shift is not None:
            shift.check_zone(self.tz)
            rule = shift.rule(rule)
        object.__setattr__(self, "_when", rule)
        object.__setattr__(self, "_wall", wall(self.tz, self.dst_gap, self.dst_fold))
        Trigger.__post_init__(self)

    @property
    def _zone(self) -> str:
        return self.tz

    @property
    def _toil(self) -> int:
        return self._cost

    def _nominal(self, instant: int) -> int | None:
        second = first_after(self._when, instant // 1000, self._wall)
        return None if second is None else second * 1000

    def busiest(self) -> tuple[int, int]:
        """By what its lists leave open."""
        _, parts = read_parts(self.rrule)
        seconds = len(parts.seconds) or (60 if parts.frequency == "SECONDLY" else 1)
        sub_hour = {"SECONDLY", "MINUTELY"}
        minutes = len(parts.minutes) or (60 if parts.frequency in sub_hour else 1)
        hours = len(parts.hours) or (24 if parts.frequency in {*sub_hour, "HOURLY"} else 1)
        return seconds * minutes * hours, seconds

    def warnings(self, since: int = 0) -> list[str]:
        """A day of the month that some months lack is skipped there, as RFC 5545 has it."""
        found = super(RRule, self).warnings(since)
        _, parts = read_parts(self.rrule)
        days, months = Recurrence(parts, self.dtstart).month_days()
        # Days in a row, or a position among several, say how a short month ends.
        last = max(days, default=0)
        if last < 1 or -1 in days or last - 1 in days or parts.positions:
            return found
        text = missing_day(last, months)
        return [*found, f"{text}; BYMONTHDAY=-1 is the last day"] if text else found

    def _rule_in_words(self) -> str:
        text = f"by the rule {self.rrule} from {self.dtstart:%Y-%m-%d at %H:%M}, {self.tz}"
        if self.exdates:
            text += f", but for {len(self.exdates)} dates"
        if self.rdates:
            text += f", and on {len(self.rdates)} dates more"
        return text if self.business_days is None else f"{text}, {self.business_days.explain()}"


class _Limited:
    """A rule up to its last wall second."""

    __slots__ = ("_last", "_rule")

    def __init__(self, rule: WallRule, last: int) -> None:
        self._rule, self._last = rule, last

    def at_or_after(self, wall: int) -> int | None:
        """The first second of the rule, not before this one."""
        found = self._rule.at_or_after(wall)
        return None if found is None or found > self._last else found


class _Edited:
    """A rule without some wall seconds, and with others."""

    __slots__ = ("_added", "_rule", "_taken")

    def __init__(self, rule: WallRule, taken: list[int], added: list[int]) -> None:
        self._rule, self._taken, self._added = rule, frozenset(taken), added

    def at_or_after(self, wall: int) -> int | None:
        """The first second, not before this one."""
        while True:
            index = bisect_left(self._added, wall)
            found = self._rule.at_or_after(wall)
            if index < len(self._added) and (found is None or self._added[index] < found):
                found = self._added[index]
            if found is None or found not in self._taken:
                return found
            wall = found + 1


@lru_cache(maxsize=1024)
def _last_counted(parts: Parts, start: datetime, most: int) -> int:
    """The last second that COUNT counts; refused if that takes more looks than these."""
    rule, second = Recurrence(parts, start), _second(start)
    last = second - 1
    for _ in range(parts.count or 0):
        found = rule.at_or_after(second)
        if found is None:
            break
        if rule.looks > most:
            raise InvalidTrigger(
                f"COUNT={parts.count} of this rule takes too long to be counted",
                field="rrule",
                hint="Lower it, leave it out and set max_runs, or write UNTIL instead",
            )
        last, second = found, found + 1
    return last


def _until(parts: Parts, tz: str) -> int | None:
    if parts.until is None:
        return None
    day, time, utc = parts.until
    try:
        moment = datetime.strptime(day + (time or "235959"), "%Y%m%d%H%M%S")  # noqa: DTZ007 - wall
        if utc:
            moment = moment.replace(tzinfo=UTC).astimezone(ZoneInfo(tz)).replace(tzinfo=None)
    except (ValueError, OverflowError):
        reason, hint = f"UNTIL {day}{time} is no date", "For example: UNTIL=20261231T230000Z"
        raise InvalidTrigger(reason, field="rrule", hint=hint) from None
    return _second(moment)


def _several(raw: object, tz: str, name: str) -> tuple[datetime, ...]:
    entries = (raw,) if isinstance(raw, datetime) else raw
    if not isinstance(entries, tuple | list) or len(entries) > _MOST:
        hint = f"For example: {name}=[datetime(2026, 12, 25, 9)]"
        raise InvalidTrigger(f"takes datetimes, {_MOST} at most", field=name, hint=hint)
    return tuple(sorted({wall_time(each, tz, name) for each in entries}))


def _seconds(moments: tuple[datetime, ...]) -> list[int]:
    return [_second(each) for each in moments]


def _second(moment: datetime) -> int:
    apart = moment - _EPOCH
    return apart.days * _DAY + apart.seconds
