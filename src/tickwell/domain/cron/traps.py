"""Warnings: what an expression does that its author may not expect."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from tickwell.domain.cron.expression import Expression
from tickwell.domain.cron.field import DAY, FIELDS, HOUR, MINUTE, MONTH, SECOND, Field
from tickwell.domain.cron.item import Kind
from tickwell.domain.cron.rule import Rule
from tickwell.domain.cron.wall import Fold, Gap, changes_within
from tickwell.domain.cron.weekdays import fold_sunday, range_mask
from tickwell.domain.cron.words import name_weekdays

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: Of changes before 2026 nobody is warned; seconds. Ten years hold every kind of them.
_FIRST, _YEARS = 1_767_225_600, 315_532_800

#: The unit of each field that a step may not divide, and what it starts over with.
_LONGER = {
    SECOND: ("second", "minute"),
    MINUTE: ("minute", "hour"),
    HOUR: ("hour", "day"),
    DAY: ("day", "month"),
    MONTH: ("month", "year"),
}
#: Days of each month; 29 February is missing in most years.
_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

_FOLDS = {
    "first": "it runs the first time only (dst_fold=first)",
    "last": "it runs the second time only (dst_fold=last)",
    "both": "it runs both times (dst_fold=both)",
}


def traps(rule: Rule, tz: str, gap: Gap, fold: Fold, since: int) -> list[str]:
    """Warnings about the two day fields, and about the next changes of the clocks."""
    expression = rule.expression
    found = _day_fields(expression) + _uneven_steps(expression) + _missing_days(expression)
    found += _weekday_numbers(expression)
    if not rule.expression.texts[2].startswith("*"):
        found += _clock_changes(rule, tz, gap, fold, max(since // 1000, _FIRST))
    return found


def _uneven_steps(expression: Expression) -> list[str]:
    """A step that does not divide its field starts over with each hour, day or year."""
    return [
        warning
        for field, text in zip(FIELDS, expression.texts, strict=True)
        for term in text.split(",")
        if field in _LONGER and (warning := _uneven(field, term))
    ]


def _uneven(field: Field, term: str) -> str:
    body, slash, step = term.partition("/")
    every = ("*", str(field.low), f"{field.low}-{field.last}")
    if body not in every or not slash or field.size % int(step) == 0:
        return ""
    unit, longer = _LONGER[field]
    warning = f"{field.name} {term} starts over with each {longer}"
    if field is DAY:
        even = f"; CalendarEvery(days={step}, …) is even"
        return f"{warning}, so its last step may be shorter{even}"
    last = range(field.low, field.last + 1, int(step))[-1]
    apart = field.size - last + field.low
    units = unit if apart == 1 else f"{unit}s"
    even = f'; Every("{step}{unit[0]}") is even' if field is not MONTH else ""
    return f"{warning}: {field.low} follows {last} after {apart} {units}{even}"


def _missing_days(expression: Expression) -> list[str]:
    """The 29th to 31st are skipped in months that lack them."""
    months = _months(expression) if expression.texts[4] != "*" else range(1, 13)
    items = expression.items[3]
    days = sorted({item.low for item in items if item.kind is Kind.RANGE and item.low == item.high})
    last = any(item.kind is Kind.LAST_DAY for item in items)
    for day in reversed(days):
        if not last and day == max(days) and (missing := missing_day(day, months)):
            return [f"{missing}; L is the last day"]
    return []


def missing_day(day: int, months: Sequence[int]) -> str:
    """That some of these months lack this day; empty where all have it."""
    lacking = sum(_LENGTHS[month - 1] < day for month in months)
    if not lacking:
        return ""
    of = f"{lacking} of {len(months)} months" if len(months) > 1 else "most years"
    return f"day {day} is missing in {of}: it does not run then"


def _months(expression: Expression) -> list[int]:
    mask = range_mask(expression.items[4])
    return [month for month in range(1, 13) if mask >> month & 1]


def _weekday_numbers(expression: Expression) -> list[str]:
    """A ? is of Quartz, where Sunday is 1."""
    day, weekday = expression.texts[3], expression.texts[5]
    if expression.is_translated or day != "?" or not weekday[0].isdecimal():
        return []
    weekdays = name_weekdays(fold_sunday(range_mask(expression.items[5])))
    if not weekdays:
        return []
    other = 'Quartz and EventBridge count from 1: dialect="quartz" or "aws" reads it so'
    return [f"day-of-week {weekday} is {weekdays}, as cron counts from Sunday, 0; {other}"]


def _day_fields(expression: Expression) -> list[str]:
    if expression.is_translated:
        return []
    day, weekday = expression.texts[3], expression.texts[5]
    if day in ("*", "?") or weekday in ("*", "?"):
        return []
    if expression.both_days:
        both = "one of them begins with *, so it fires only when both match"
        return [f"day-of-month {day} and day-of-week {weekday} are both set: {both}"]
    either = "it fires when either one matches, as cron has always done"
    return [f"day-of-month {day} and day-of-week {weekday} are both set: {either}"]


def _clock_changes(rule: Rule, tz: str, gap: Gap, fold: Fold, since: int) -> list[str]:
    missing = repeated = ""
    fixed = rule.expression.fixed_time
    for change in changes_within(tz, since, since + _YEARS):
        low, high = sorted((change.instant + change.before, change.instant + change.after))
        wall = rule.at_or_after(low)
        if wall is None or wall >= high:
            continue
        if change.after > change.before and not missing:
            happens = _after_gap(high, gap) if fixed else "what falls into it does not run"
            missing = f"{_say(wall)} in {tz} is missing, as clocks go forward: {happens}"
        if change.after < change.before and not repeated:
            happens = _FOLDS[fold] if fixed else "it runs both times, following elapsed time"
            repeated = f"{_say(wall)} in {tz} happens twice, as clocks go back: {happens}"
    return [warning for warning in (missing, repeated) if warning]


def _after_gap(end: int, gap: Gap) -> str:
    if gap == "skip":
        return "it does not run then (dst_gap=skip)"
    return f"it runs at {_EPOCH + timedelta(0, end):%H:%M} instead (dst_gap=shift)"


def _say(wall: int) -> str:
    return f"{_EPOCH + timedelta(0, wall):%Y-%m-%d %H:%M}"
