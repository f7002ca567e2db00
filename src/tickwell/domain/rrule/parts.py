"""The parts of a recurrence rule: FREQ=MONTHLY;BYDAY=-1FR;COUNT=10."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

from tickwell.errors import InvalidTrigger

LONGEST = 512
FREQUENCIES = ("YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY", "SECONDLY")
DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
#: Occurrences that can be counted: each is looked up when the rule is read.
MOST_COUNTED = 1000
_EXAMPLE = "FREQ=MONTHLY;BYDAY=-1FR"
_INTERVALS = 100_000
_DAY = re.compile(r"([+-]?[0-9]{1,2})?(MO|TU|WE|TH|FR|SA|SU)")
_UNTIL = re.compile(r"([0-9]{8})(?:T([0-9]{6})(Z?))?")
#: Lowest and highest value of each list; whether it may count from the end, negative.
_LISTS = {
    "BYMONTH": (1, 12, False),
    "BYMONTHDAY": (1, 31, True),
    "BYYEARDAY": (1, 366, True),
    "BYWEEKNO": (1, 53, True),
    "BYSETPOS": (1, 366, True),
    "BYHOUR": (0, 23, False),
    "BYMINUTE": (0, 59, False),
    "BYSECOND": (0, 59, False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a rule says; lists that it does not have are empty."""

    frequency: str
    interval: int = 1
    count: int | None = None
    #: As the rule has it: date, time or nothing, and "Z" for UTC.
    until: tuple[str, str, str] | None = None
    #: The day on which weeks begin; Monday is 0.
    week_start: int = 0
    months: frozenset[int] = frozenset()
    month_days: frozenset[int] = frozenset()
    year_days: frozenset[int] = frozenset()
    weeks: frozenset[int] = frozenset()
    positions: frozenset[int] = frozenset()
    hours: frozenset[int] = frozenset()
    minutes: frozenset[int] = frozenset()
    seconds: frozenset[int] = frozenset()
    #: Weekdays, Monday 0, with the place in the month or year; 0: every one.
    days: frozenset[tuple[int, int]] = frozenset()


def read_parts(text: object) -> tuple[str, Parts]:
    """The rule in its usual form, and its parts."""
    if not isinstance(text, str):
        raise InvalidTrigger("a rule is a string", field="rrule", hint=f"For example: {_EXAMPLE}")
    if len(text) > LONGEST or not text.isascii():
        _refuse(f"has more than {LONGEST} characters, or some that are not ASCII")
    plain = text.strip().upper().removeprefix("RRULE:")
    values: dict[str, str] = {}
    for part in filter(None, plain.split(";")):
        name, equals, value = part.partition("=")
        if not equals or not value:
            _refuse(f"{part[:40]!r} is not NAME=VALUE")
        if name in values:
            _refuse(f"has {name} twice")
        values[name] = value
    unknown = values.keys() - {*_LISTS, "FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST", "BYDAY"}
    if unknown:
        _refuse(f"{min(unknown)[:40]} is not a part of a rule")
    parts = _parts(values)
    _check(parts)
    return plain, parts


def _parts(values: dict[str, str]) -> Parts:
    frequency, week_start = values.get("FREQ", ""), values.get("WKST", "MO")
    if frequency not in FREQUENCIES:
        _refuse(f"FREQ is {frequency[:40]!r}, not one of {', '.join(FREQUENCIES)}")
    if week_start not in DAYS:
        _refuse(f"WKST is {week_start[:40]!r}, not one of {', '.join(DAYS)}")
    if "COUNT" in values and "UNTIL" in values:
        _refuse("COUNT and UNTIL are mutually exclusive")
    until = None
    if "UNTIL" in values:
        match = _UNTIL.fullmatch(values["UNTIL"])
        if match is None:
            _refuse("UNTIL is not a date or a time, as 20261231 or 20261231T230000Z")
        until = match[1], match[2] or "", match[3] or ""
    return Parts(
        frequency=frequency,
        interval=_whole("INTERVAL", values.get("INTERVAL", "1"), _INTERVALS),
        count=_whole("COUNT", values["COUNT"], MOST_COUNTED) if "COUNT" in values else None,
        until=until,
        week_start=DAYS.index(week_start),
        months=_list("BYMONTH", values),
        month_days=_list("BYMONTHDAY", values),
        year_days=_list("BYYEARDAY", values),
        weeks=_list("BYWEEKNO", values),
        positions=_list("BYSETPOS", values),
        hours=_list("BYHOUR", values),
        minutes=_list("BYMINUTE", values),
        seconds=_list("BYSECOND", values),
        days=frozenset(_day(each) for each in values["BYDAY"].split(","))
        if "BYDAY" in values
        else frozenset(),
    )


def _check(parts: Parts) -> None:
    """What RFC 5545 does not allow together."""
    frequency = parts.frequency
    placed = any(ordinal for _, ordinal in parts.days)
    if placed and (frequency not in {"YEARLY", "MONTHLY"} or parts.weeks):
        _refuse("BYDAY counts weekdays, as in 1MO, with FREQ=YEARLY or MONTHLY only")
    if parts.weeks and frequency != "YEARLY":
        _refuse("BYWEEKNO goes with FREQ=YEARLY only")
    if parts.year_days and frequency in {"MONTHLY", "WEEKLY", "DAILY"}:
        _refuse(f"BYYEARDAY does not go with FREQ={frequency}")
    if parts.month_days and frequency == "WEEKLY":
        _refuse("BYMONTHDAY does not go with FREQ=WEEKLY")
    if parts.positions and FREQUENCIES.index(frequency) > FREQUENCIES.index("DAILY"):
        _refuse("BYSETPOS goes with FREQ=YEARLY to DAILY only")
    days = (parts.months, parts.month_days, parts.year_days, parts.weeks, parts.days)
    if parts.positions and not any((*days, parts.hours, parts.minutes, parts.seconds)):
        _refuse("BYSETPOS needs another BY part to choose from")


def _list(name: str, values: dict[str, str]) -> frozenset[int]:
    low, high, signed = _LISTS[name]
    found = set[int]()
    for text in values[name].split(",") if name in values else ():
        digits = text.removeprefix("-") if signed else text
        value = int(digits) if digits.isdecimal() and len(digits) <= 3 else -1
        if not low <= value <= high:
            signs = f" or -{high} to -{low}" if signed else ""
            _refuse(f"{name} has {text[:20]!r}, not {low} to {high}{signs}")
        found.add(-value if text.startswith("-") else value)
    return frozenset(found)


def _day(text: str) -> tuple[int, int]:
    match = _DAY.fullmatch(text)
    ordinal = int(match[1] or 0) if match else 0
    if match is None or abs(ordinal) > 53 or (match[1] and not ordinal):
        _refuse(f"BYDAY has {text[:20]!r}, not a weekday as MO, 1MO or -1MO")
    return DAYS.index(match[2]), ordinal


def _whole(name: str, text: str, most: int) -> int:
    if not text.isdecimal() or len(text) > 9 or not 1 <= int(text) <= most:
        hint = " (for more, use max_runs)" if name == "COUNT" else ""
        _refuse(f"{name} is {text[:20]!r}, not 1 to {most}{hint}")
    return int(text)


def _refuse(reason: str) -> NoReturn:
    raise InvalidTrigger(reason, field="rrule", hint=f"For example: {_EXAMPLE}")
