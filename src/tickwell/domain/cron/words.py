"""An expression in plain words."""

from __future__ import annotations

from collections.abc import Callable

from tickwell.domain.cron.expression import Expression
from tickwell.domain.cron.item import Item, Kind
from tickwell.domain.cron.weekdays import fold_sunday, range_mask

WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_ORDINALS = ("", "first", "second", "third", "fourth", "fifth")
#: So many times of day are listed one by one.
_LISTED = 4


def describe(expression: Expression) -> str:
    """All but the zone: "at 09:00 on Monday to Friday"."""
    parts = [_times(expression), _days(expression), _months(expression), _years(expression)]
    return " ".join(part for part in parts if part)


def name_weekdays(mask: int) -> str:
    """Seven bits, Sunday lowest, in words; the week is told from Monday on."""
    if mask == 0x7F:
        return "every day"
    days = [day for day in range(1, 8) if mask >> day % 7 & 1]
    return _runs(days, lambda day: WEEKDAYS[day % 7])


def _times(expression: Expression) -> str:
    seconds, minutes, hours = (_values(items) for items in expression.items[:3])
    plain = seconds == [0]
    if len(seconds) * len(minutes) * len(hours) <= _LISTED:
        times = [(h, m, s) for h in hours for m in minutes for s in seconds]
        return "at " + _join([_clock(*time, plain=plain) for time in times])
    parts = [] if plain else [_cycle(seconds, "second")]
    if plain or len(minutes) < 60:
        parts.append(_cycle(minutes, "minute"))
    if plain and minutes == [0]:
        step = hours[1] - hours[0]
        if hours == list(range(0, 24, step)) and 24 % step == 0:
            return "every hour" if step == 1 else f"every {step} hours"
        parts = ["on the hour"]
    if len(hours) < 24:
        parts.append(_hours(hours))
    elif plain and len(minutes) <= _LISTED:
        parts.append("of every hour")
    return " ".join(parts)


def _cycle(values: list[int], unit: str) -> str:
    if len(values) == 60:
        return f"every {unit}"
    step = values[1] - values[0] if len(values) > 1 else 0
    if step and values == list(range(0, 60, step)) and 60 % step == 0:
        return f"every {step} {unit}s"
    return f"at {unit} {_runs(values, str)}"


def _hours(hours: list[int]) -> str:
    if hours == list(range(hours[0], hours[-1] + 1)):
        return f"from {hours[0]:02}:00 to {hours[-1]:02}:59"
    return f"in the hours {_runs(hours, lambda hour: f'{hour:02}')}"


def _clock(hour: int, minute: int, second: int, *, plain: bool) -> str:
    return f"{hour:02}:{minute:02}" if plain else f"{hour:02}:{minute:02}:{second:02}"


def _days(expression: Expression) -> str:
    free_day, free_weekday = (expression.texts[index] in ("*", "?") for index in (3, 5))
    days = f"on {_month_days(expression.items[3])}"
    weekdays = f"on {_weekdays(expression.items[5])}"
    if free_day and free_weekday:
        return "every day" if expression.fixed_time and not _has_months(expression) else ""
    if free_day:
        return weekdays
    if free_weekday:
        return days
    if expression.both_days:
        return f"{days}, and only {weekdays}"
    return f"{days} or {weekdays} (either is enough)"


def _month_days(items: tuple[Item, ...]) -> str:
    values = _values(items)
    words = [f"day {_runs(values, str)} of the month"] if values else []
    for item in items:
        if item.kind is Kind.LAST_DAY and item.low:
            words.append(f"the day {item.low} before the last of the month")
        elif item.kind is Kind.LAST_DAY:
            words.append("the last day of the month")
        elif item.kind is Kind.LAST_WORKDAY:
            words.append("the last working day of the month")
        elif item.kind is Kind.NEAREST_WORKDAY:
            words.append(f"the working day nearest to day {item.low} of the month")
    return _join(words)


def _weekdays(items: tuple[Item, ...]) -> str:
    mask = fold_sunday(range_mask(items))
    words = [name_weekdays(mask)] if mask else []
    for item in items:
        if item.kind is Kind.LAST_WEEKDAY:
            words.append(f"the last {WEEKDAYS[item.low]} of the month")
        elif item.kind is Kind.NTH_WEEKDAY:
            words.append(f"the {_ORDINALS[item.high]} {WEEKDAYS[item.low]} of the month")
    return _join(words)


def _has_months(expression: Expression) -> bool:
    return len(_values(expression.items[4])) < 12


def _months(expression: Expression) -> str:
    if not _has_months(expression):
        return ""
    months = _values(expression.items[4])
    return f"in {_runs(months, lambda month: MONTHS[month - 1])}"


def _years(expression: Expression) -> str:
    if expression.years is None:
        return ""
    return f"in {_runs(sorted(expression.years), str)}"


def _values(items: tuple[Item, ...]) -> list[int]:
    mask = range_mask(items)
    return [value for value in range(mask.bit_length()) if mask >> value & 1]


def _runs(values: list[int], name: Callable[[int], str]) -> str:
    """Three and more in a row become "from to"."""
    words: list[str] = []
    while values:
        length = 1
        while length < len(values) and values[length] == values[0] + length:
            length += 1
        run, values = values[:length], values[length:]
        if length > 2:
            words.append(f"{name(run[0])} to {name(run[-1])}")
        else:
            words += [name(value) for value in run]
    return _join(words)


def _join(words: list[str]) -> str:
    return " and ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)
