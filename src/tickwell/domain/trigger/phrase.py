"""Triggers in words: "every weekday at 9 in Rome". A closed grammar; nothing is guessed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from tickwell.domain.cron import parse
from tickwell.domain.cron.zone import UNNAMED, find_zone
from tickwell.domain.trigger.any_of import AnyOf
from tickwell.domain.trigger.cron import Cron
from tickwell.domain.trigger.every import Every
from tickwell.domain.trigger.trigger import Trigger
from tickwell.errors import InvalidTrigger

LONGEST = 200
#: What is understood, a form each; what is not is answered with the nearest.
FORMS = (
    "every 15 minutes",
    "every hour",
    "every day at 9",
    "every day at 9:30 and 17:30 in Rome",
    "every weekday at 9",
    "every weekday at 9 in Rome",
    "every weekend at noon",
    "every monday and thursday at 6 pm in New York",
    "every monday to thursday at 18:00 in Europe/Berlin",
    "every month on the 1st and 15th at 8",
    "every month on the last day at 23:30",
    "every month on the last weekday at 17:00 in London",
    "every month on the first monday at 9",
    "every month on the last friday at 16:00 in UTC",
    "every year on 25 december at midnight",
)
_DAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_EACH_WEEK = {
    "every day": "* * *",
    "daily": "* * *",
    "every weekday": "* * 1-5",
    "on weekdays": "* * 1-5",
    "every weekend": "* * 0,6",
    "on weekends": "* * 0,6",
}
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "last": 0}
_UNITS = {"second": "s", "minute": "m", "hour": "h"}

_DAY = rf"(?:{'|'.join(_DAYS)})"
_DAY_LIST = rf"{_DAY}s?(?: and {_DAY}s?)*"
_NUMBER = r"[0-9]{1,2}(?:st|nd|rd|th)?"
_INTERVAL = re.compile(r"every (?:([0-9]{1,6}) )?(second|minute|hour)s?")
_RUN = re.compile(rf"(?:every|on) ({_DAY})s? to ({_DAY})s?")
_WEEK = re.compile(rf"(?:every|on|every week on|weekly on) ({_DAY_LIST})")
_ONE_OF_MONTH = rf"{_NUMBER}|last day|last weekday|(?:{'|'.join(_ORDINALS)}) {_DAY}"
_OF_MONTH = rf"(?:the )?(?:{_ONE_OF_MONTH})"
_MONTH = re.compile(rf"(?:every month|monthly) on ({_OF_MONTH}(?: and {_OF_MONTH})*)")
_YEAR = re.compile(
    rf"(?:every year|yearly) on (?:the )?(?:({_NUMBER})(?: of)? ({'|'.join(_MONTHS)})"
    rf"|({'|'.join(_MONTHS)}) (?:the )?({_NUMBER}))"
)
_TIME = re.compile(r"([0-9]{1,2})(?::([0-9]{2}))?(?: ?(am|pm))?")


@dataclass(frozen=True, slots=True)
class Phrase:
    """What a phrase says."""

    #: Of an interval, its period.
    every: str = ""
    #: Otherwise cron expressions, any of which fires.
    crons: tuple[str, ...] = ()
    #: The time zone; None: it names none.
    tz: str | None = None


def when(phrase: str, **options: Any) -> Trigger:
    """The trigger that a phrase describes: `when("every weekday at 9 in Rome")`.

    Takes the options of every trigger; `tz`, `dst_gap`, `dst_fold` and `business_days` where it
    names times of day. `explain()` says how it was understood.
    """
    found = read_phrase(phrase)
    if found.every:
        for name in ("tz", "dst_gap", "dst_fold", "business_days"):
            if options.pop(name, None) is not None:
                raise InvalidTrigger("an interval has no time of day", field=name)
        return Every(found.every, **options)
    if found.tz is not None and options.get("tz") is not None:
        hint = "Leave one of the two out"
        raise InvalidTrigger(f"the phrase names a zone, {found.tz}", field="tz", hint=hint)
    names = {"tz", "dst_gap", "dst_fold", "business_days"} & options.keys()
    zoned = {name: value for name in names if (value := options.pop(name)) is not None}
    zoned["tz"] = found.tz or zoned.get("tz", UNNAMED)
    for each in found.crons:
        try:
            parse(each)
        except InvalidTrigger as error:  # a day that its month never has
            raise InvalidTrigger(error.reason, field="when", hint=error.hint) from None
    if len(found.crons) == 1:
        return Cron(found.crons[0], **zoned, **options)
    return AnyOf(*(Cron(each, **zoned) for each in found.crons), **options)


def read_phrase(text: object) -> Phrase:
    """What a phrase says; refused with the nearest form that is understood."""
    if not isinstance(text, str):
        hint = f"For example: {FORMS[5]}"
        raise InvalidTrigger("a phrase is a string", field="when", hint=hint)
    if len(text) > LONGEST:
        reason = f"has {len(text)} characters, {LONGEST} at most are taken"
        raise InvalidTrigger(reason, field="when", hint=f"For example: {FORMS[5]}")
    body, _, zone_name = " ".join(text.split()).partition(" in ")
    zone = _zone(zone_name, text) if zone_name else None
    plain = re.sub(r" ?, ?(?:and )?", " and ", body.lower().rstrip("."))
    days, at, times = plain.partition(" at ")
    if interval := _INTERVAL.fullmatch(days):
        if at or zone_name:
            raise _unknown(text, "an interval has neither a time of day nor a zone")
        return Phrase(every=f"{interval[1] or 1}{_UNITS[interval[2]]}")
    fields = _days(days, text)
    if not at:
        raise _unknown(text, "it has no time of day", nearest_to=f"{days} at 9")
    minutes: dict[int, list[int]] = {}
    for hour, minute in sorted({_time(each, text) for each in times.split(" and ")}):
        minutes.setdefault(minute, []).append(hour)
    crons = (f"{minute} {','.join(map(str, hours))} {fields}" for minute, hours in minutes.items())
    return Phrase(crons=tuple(crons), tz=zone)


def _days(days: str, text: str) -> str:
    """Day of month, month and weekday, as cron has them."""
    if days in _EACH_WEEK:
        return _EACH_WEEK[days]
    if run := _RUN.fullmatch(days):
        first, last = (_DAYS.index(each) for each in run.groups())
        named = [(first + step) % 7 for step in range((last - first) % 7 + 1)]
        return f"* * {','.join(map(str, sorted(named)))}"
    if week := _WEEK.fullmatch(days):
        named = [_DAYS.index(each.rstrip("s")) for each in week[1].split(" and ")]
        return f"* * {','.join(map(str, sorted({*named})))}"
    if month := _MONTH.fullmatch(days):
        return _of_month([each.removeprefix("the ") for each in month[1].split(" and ")], text)
    if year := _YEAR.fullmatch(days):
        day, name = (year[1], year[2]) if year[1] else (year[4], year[3])
        return f"{_number(day, text)} {_MONTHS.index(name) + 1} *"
    raise _unknown(text, "it is not a known form")


def _of_month(entries: list[str], text: str) -> str:
    days, weekdays = list[str](), list[str]()
    for each in entries:
        ordinal, _, day = each.partition(" ")
        if each == "last day":
            days.append("L")
        elif each == "last weekday":
            days.append("LW")
        elif not day:
            days.append(_number(each, text))
        else:
            number, weekday = _ORDINALS[ordinal], _DAYS.index(day)
            weekdays.append(f"{weekday}#{number}" if number else f"{weekday}L")
    if days and weekdays:
        raise _unknown(text, "it mixes days of the month and weekdays; make it two triggers")
    return f"{','.join(days)} * *" if days else f"* * {','.join(weekdays)}"


def _number(text: str, phrase: str) -> str:
    number = int(re.sub(r"[a-z]", "", text))
    if not 1 <= number <= 31:
        raise _unknown(phrase, f"{number} is no day of a month")
    return str(number)


def _time(text: str, phrase: str) -> tuple[int, int]:
    named = {"noon": (12, 0), "midnight": (0, 0)}.get(text)
    if named is not None:
        return named
    match = _TIME.fullmatch(text)
    if match is None:
        raise _unknown(phrase, f"{text[:40]!r} is no time of day")
    hour, minute, half = int(match[1]), int(match[2] or 0), match[3]
    if minute > 59 or not (1 <= hour <= 12 if half else hour <= 23):
        raise _unknown(phrase, f"{text!r} is no time of day")
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    return hour, minute


def _zone(zone_name: str, phrase: str) -> str:
    found = find_zone(zone_name.rstrip("."))
    if found is None:
        raise _unknown(phrase, f"no time zone is named after {zone_name[:40]!r}")
    return found


def _unknown(phrase: str, reason: str, nearest_to: str = "") -> InvalidTrigger:
    [nearest] = get_close_matches(nearest_to or phrase.lower(), FORMS, n=1, cutoff=0)
    hint = f'The nearest that is understood: "{nearest}"'
    return InvalidTrigger(f"{phrase!r}: {reason}", field="when", hint=hint)
