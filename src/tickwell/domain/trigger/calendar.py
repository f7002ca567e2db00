"""Exclusion calendars: dates on which a trigger does not fire."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, TypeVar, Union

from tickwell.domain.cron import check_zone
from tickwell.errors import InvalidTrigger

_DAY = 86_400
_EPOCH = 719_163
LONGEST = 2_000

_EXAMPLES = {
    "dates": '["2026-12-25"]',
    "ranges": '[("2026-12-24", "2027-01-01")]',
}

T = TypeVar("T")
Dates = Iterable[date | str]
Ranges = Iterable[tuple[date | str, date | str]]
#: How people name calendars: one or several, their own or by the name of a shared one.
Calendars = Union["Calendar", str, Sequence[Union["Calendar", str]]]


@dataclass(frozen=True, slots=True, init=False)
class Calendar:
    """Whole days, in a zone, that are left out; named, so that a slot can say why."""

    name: str
    #: Single days, in order.
    dates: tuple[date, ...]
    #: First and last day, both left out.
    ranges: tuple[tuple[date, date], ...]
    #: The zone; None for that of the trigger, which is UTC where it has none.
    tz: str | None
    #: The version of the project's shared calendar whose days these are; 0: not looked up yet;
    #: None: the trigger's own calendar.
    version: int | None

    def __init__(
        self,
        name: str,
        dates: Dates = (),
        *,
        ranges: Ranges = (),
        tz: str | None = None,
        version: int | None = None,
    ) -> None:
        if not isinstance(name, str) or not 0 < len(name) <= 100 or not name.isprintable():
            hint = "For example: holidays"
            reason = "needs a name of 1 to 100 printable characters"
            raise InvalidTrigger(reason, field="exclude.name", hint=hint)
        days = tuple(sorted({_date(day, "exclude.dates") for day in _several(dates, "dates")}))
        spans = tuple(sorted({_range(pair) for pair in _several(ranges, "ranges")}))
        if version is not None and (type(version) is not int or version < 0):
            hint = 'To name a shared calendar: exclude="holidays"'
            raise InvalidTrigger("must be a whole number", field="exclude.version", hint=hint)
        if not (version is None) <= len(days) + len(spans) <= LONGEST:
            hint = 'For example: Calendar("holidays", ["2026-12-25"])'
            reason = f"needs dates or ranges, {LONGEST} at most"
            raise InvalidTrigger(reason, field="exclude.dates", hint=hint)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "dates", days)
        object.__setattr__(self, "ranges", spans)
        object.__setattr__(self, "version", version)
        object.__setattr__(self, "tz", None if tz is None else check_zone(tz, "exclude.tz"))

    @property
    def is_shared(self) -> bool:
        """Whether it stands for a calendar of the project."""
        return self.version is not None


def calendars_of(raw: object, field: str, most: int) -> tuple[Calendar, ...]:
    """One calendar or several; a text is the name of a calendar of the project."""
    entries = (raw,) if isinstance(raw, Calendar | str) else raw
    if not isinstance(entries, tuple | list) or not all(
        isinstance(each, Calendar | str) for each in entries
    ):
        reason, hint = "takes Calendars, or names of the project's", f"For example: {field}=(…,)"
        raise InvalidTrigger(reason, field=field, hint=hint)
    if len(entries) > most:
        raise InvalidTrigger(f"takes {most} at most", field=field)
    found = (Calendar(each, version=0) if isinstance(each, str) else each for each in entries)
    return tuple(found)


if TYPE_CHECKING:

    class CalendarsField:
        """A field that takes calendars in several forms and keeps a tuple."""

        def __get__(self, record: object, kind: type) -> tuple[Calendar, ...]: ...

        def __set__(self, record: object, value: Calendars) -> None: ...

    NO_CALENDARS: CalendarsField
else:
    CalendarsField, NO_CALENDARS = tuple, ()


def closed_days(calendars: Sequence[Calendar]) -> list[tuple[int, int]]:
    """The days of calendars, as days since 1970: first, and the day after the last, in order."""
    closed = [span for each in calendars for span in each.ranges]
    closed += [(day, day) for each in calendars for day in each.dates]
    merged: list[tuple[int, int]] = []
    for first, last in sorted(closed):
        start, end = first.toordinal() - _EPOCH, last.toordinal() - _EPOCH + 1
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


class OpenDays:
    """The days that calendars of one zone leave in, as a rule about wall time."""

    __slots__ = ("_ends", "_starts")

    def __init__(self, calendars: list[Calendar]) -> None:
        merged = closed_days(calendars)
        self._starts = [start for start, _ in merged]
        self._ends = [end for _, end in merged]

    def at_or_after(self, wall: int) -> int | None:
        """The first wall second, not before this one, on a day that is left in."""
        day = wall // _DAY
        index = bisect_right(self._starts, day)
        if index and day < self._ends[index - 1]:
            return self._ends[index - 1] * _DAY
        return wall


def _date(value: date | str, field: str) -> date:
    if isinstance(value, str) and len(value) == 10:
        try:
            return date.fromisoformat(value)
        except ValueError:
            pass
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    raise InvalidTrigger(f"{value!r} is not a date", field=field, hint="For example: 2026-12-25")


def _several(values: Iterable[T], name: str) -> Iterable[T]:
    if not isinstance(values, Iterable) or isinstance(values, str):
        hint = f"For example: {name}={_EXAMPLES[name]}"
        raise InvalidTrigger(f"{values!r} is not a list", field=f"exclude.{name}", hint=hint)
    return values


def _range(pair: object) -> tuple[date, date]:
    field = "exclude.ranges"
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        hint = f"For example: ranges={_EXAMPLES['ranges']}"
        raise InvalidTrigger(f"{pair!r} is not a first and a last date", field=field, hint=hint)
    start, end = (_date(day, field) for day in pair)
    if end < start:
        raise InvalidTrigger(f"{start} to {end} runs backwards", field=field)
    return start, end
