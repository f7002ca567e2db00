"""Fires every so many days, weeks, months or years at the same wall time."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from zoneinfo import ZoneInfo

from tickwell.domain.cron import Wall, check_zone, first_after, wall
from tickwell.domain.cron.search import WallRule
from tickwell.domain.cron.wall import Fold, Gap
from tickwell.domain.cron.zone import UNNAMED
from tickwell.domain.trigger.business_days import BusinessDays, check_business_days
from tickwell.domain.trigger.choice import check_choice
from tickwell.domain.trigger.series import Series
from tickwell.domain.trigger.trigger import Trigger
from tickwell.errors import InvalidTrigger

#: The units, and how many of each are taken: a hundred years.
UNITS = {"years": 100, "months": 1200, "weeks": 5200, "days": 36_500}


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarEvery(Trigger):
    """Every 2 months at 09:00 in Rome; a day that a month lacks becomes its last."""

    years: int = 0
    months: int = 0
    weeks: int = 0
    days: int = 0
    #: The first fire, as the wall time of the zone; an aware datetime is converted to it.
    anchor: datetime
    tz: str = UNNAMED
    #: A time of day that is missing when clocks go forward: at the first instant after, or not.
    dst_gap: Gap = "shift"
    #: A time of day that happens twice when clocks go back: which of the two.
    dst_fold: Fold = "first"
    #: Moves fires from weekends and holidays to a business day.
    business_days: BusinessDays | None = None
    _series: WallRule = field(init=False, repr=False, compare=False)
    _wall: Wall = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tz", zone_of(self.tz, self.anchor))
        check_choice(self.dst_gap, ("shift", "skip"), "dst_gap")
        check_choice(self.dst_fold, ("first", "last", "both"), "dst_fold")
        for name, most in UNITS.items():
            amount = getattr(self, name)
            if type(amount) is not int or not 0 <= amount <= most:
                reason = f"must be a whole number from 0 to {most}"
                raise InvalidTrigger(reason, field=f"calendar_every.{name}", hint="For example: 2")
        months, days = self.years * 12 + self.months, self.weeks * 7 + self.days
        if not months and not days:
            hint = "For example: months=2"
            raise InvalidTrigger("needs a period", field="calendar_every", hint=hint)
        object.__setattr__(self, "anchor", wall_time(self.anchor, self.tz, "anchor"))
        series: WallRule = Series(self.anchor, months, days)
        shift = check_business_days(self.business_days)
        if shift is not None:
            shift.check_zone(self.tz)
            series = shift.rule(series)
        object.__setattr__(self, "_series", series)
        object.__setattr__(self, "_wall", wall(self.tz, self.dst_gap, self.dst_fold))
        Trigger.__post_init__(self)

    @property
    def _zone(self) -> str:
        return self.tz

    @property
    def _toil(self) -> int:
        toil = 3 if self.months or self.years else 1
        return toil if self.business_days is None else toil * 4

    def _nominal(self, instant: int) -> int | None:
        second = first_after(self._series, instant // 1000, self._wall)
        return None if second is None else second * 1000

    def _rule_in_words(self) -> str:
        amounts = [(getattr(self, name), name) for name in UNITS if getattr(self, name)]
        if len(amounts) == 1 and amounts[0][0] == 1:
            period = amounts[0][1][:-1]
        else:
            period = " ".join(f"{n} {name if n > 1 else name[:-1]}" for n, name in amounts)
        text = f"every {period} from {self.anchor:%Y-%m-%d} at {self.anchor:%H:%M}, {self.tz}"
        return text if self.business_days is None else f"{text}, {self.business_days.explain()}"


def zone_of(tz: object, anchor: object) -> str:
    """The zone of a trigger with this anchor; one with an offset is read in UTC, if in no other."""
    zone = check_zone(tz)
    return "UTC" if zone is UNNAMED and getattr(anchor, "tzinfo", None) else zone


def wall_time(anchor: object, tz: str, field: str) -> datetime:
    """A whole second as the wall time of a zone; an aware datetime is converted to it."""
    if not isinstance(anchor, datetime):
        hint = "For example datetime(2026, 1, 31, 9), in documents 2026-01-31T09:00:00"
        raise InvalidTrigger("is not a datetime", field=field, hint=hint)
    if anchor.microsecond:
        raise InvalidTrigger("must be a whole second", field=field, hint="Drop the fraction")
    try:
        local = anchor.astimezone(ZoneInfo(tz)) if anchor.tzinfo else anchor
    except OverflowError:
        raise InvalidTrigger("is outside the years 1 to 9999", field=field) from None
    return local.replace(tzinfo=None, fold=0)
