"""Expressions of other schedulers, translated field by field into those of cron."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from tickwell.domain.cron.field import DAY, FIELDS, WEEKDAY, Field
from tickwell.domain.cron.year import read_years
from tickwell.errors import InvalidTrigger

Dialect = Literal["cron", "quartz", "aws", "celery"]
DIALECTS: tuple[Dialect, ...] = get_args(Dialect)
#: How an explanation names them.
NAMES = {"quartz": "Quartz", "aws": "EventBridge", "celery": "Celery"}
_EXAMPLES = {"quartz": "0 0 9 ? * 2-6", "aws": "0 9 ? * 2-6 *", "celery": "0 9 * * 1-5"}
_WRAPPED = re.compile(r"cron\((.*)\)", re.IGNORECASE)
_LAST_OF = re.compile(r"([0-9]|[a-z]{3})l")
_NTH = re.compile(r"([0-9]|[a-z]{3})(#[0-9]+)")
_FULL = re.compile(r"([a-z]{3})[a-z]*")


@dataclass(frozen=True, slots=True)
class Translation:
    """What an expression of another scheduler says, in the words of cron."""

    #: Six fields, seconds first.
    fields: tuple[str, ...]
    #: Whether a day must match both day fields; None: by Vixie's rule.
    both_days: bool | None = None
    #: The years in which it fires; None: in all.
    years: frozenset[int] | None = None


def unwrapped(text: object, dialect: Dialect) -> object:
    """The expression without the `cron(…)` that EventBridge has around it."""
    is_text = dialect == "aws" and isinstance(text, str)
    match = _WRAPPED.fullmatch(str(text).strip()) if is_text else None
    return match[1] if match else text


def translate(fields: list[str], dialect: Dialect) -> Translation:
    """The expression that the fields of a dialect other than cron's make."""
    if dialect == "celery":
        _count(fields, dialect, (5,), "minute hour day-of-month month day-of-week")
        texts = [_celery(kind, text) for kind, text in zip(FIELDS[1:], fields, strict=True)]
        return Translation(("0", *texts), both_days=True)
    if dialect == "quartz":
        order = "second minute hour day-of-month month day-of-week [year]"
        _count(fields, dialect, (6, 7), order)
        texts, year = fields[:6], "".join(fields[6:])
    else:
        _count(fields, dialect, (6,), "minute hour day-of-month month day-of-week year")
        texts, year = ["0", *fields[:5]], fields[5]
    _refuse_both_days(texts[3], texts[5], dialect)
    read = tuple(_quartz(kind, text) for kind, text in zip(FIELDS, texts, strict=True))
    return Translation(read, years=read_years(year))


def _count(fields: list[str], dialect: Dialect, counts: tuple[int, ...], order: str) -> None:
    if len(fields) not in counts:
        wanted = " or ".join(map(str, counts))
        raise InvalidTrigger(
            f"the expression has {len(fields)} fields; {NAMES[dialect]} has {wanted}: {order}",
            field="cron",
            hint=f"For example: {_EXAMPLES[dialect]}",
        )


def _refuse_both_days(day: str, weekday: str, dialect: Dialect) -> None:
    if not {day, weekday} & {"?", "*"}:
        raise InvalidTrigger(
            f"{NAMES[dialect]} takes one of day-of-month and day-of-week, the other one is ?;"
            f" got {day} and {weekday}",
            field="cron.day-of-week",
            hint=f"For example: {_EXAMPLES[dialect]}",
        )


def _quartz(field: Field, text: str) -> str:
    return ",".join(_quartz_term(field, term) for term in text.lower().split(","))


def _quartz_term(field: Field, term: str) -> str:
    if field is DAY and ("l" in term or "w" in term):
        return term
    if field is WEEKDAY:
        if term == "l":  # the last day of the week, which ends on Saturday
            return "6"
        if match := _LAST_OF.fullmatch(term):
            return f"{_weekday(match[1])}l"
        if match := _NTH.fullmatch(term):
            return f"{_weekday(match[1])}{match[2]}"
    body, slash, step = term.partition("/")
    if body in {"*", "?", ""} and (body or slash):
        return f"{body or '*'}{slash}{step}"
    first, dash, last = body.partition("-")
    value = _weekday if field is WEEKDAY else field.value
    low = value(first)
    high = value(last) if dash else field.last if slash else low
    return _listed(field, low, high, step if slash else "1")


def _weekday(text: str) -> int:
    """Sunday is 1 in Quartz, and 0 in cron."""
    if not text.isdecimal():
        return WEEKDAY.value(text)
    if not 1 <= int(text) <= 7:
        WEEKDAY.refuse(f"{text} is outside 1-7, where 1 is Sunday", "2-6, Monday to Friday")
    return int(text) - 1


def _celery(field: Field, text: str) -> str:
    return ",".join(_celery_term(field, term) for term in text.lower().split(","))


def _celery_term(field: Field, term: str) -> str:
    body, slash, step = term.partition("/")
    if body == "*":
        return term
    first, dash, last = body.partition("-")
    if slash and not dash:
        field.refuse(f"{term!r} has a step without a range", f"{first}-{field.last}/{step}")
    low = _celery_value(field, first)
    high = _celery_value(field, last) if dash else low
    return _listed(field, low, high, step if slash else "1")


def _celery_value(field: Field, text: str) -> int:
    if field is WEEKDAY and text == "7":
        field.refuse("7 is outside 0-6, where 0 is Sunday", "0, Sunday")
    match = _FULL.fullmatch(text)
    return field.value(match[1] if match and field.names else text)


def _listed(field: Field, low: int, high: int, step: str) -> str:
    """A range as cron writes it; one that goes past the end begins anew, and is listed."""
    if low == high:
        return str(low)
    if low < high and field is not WEEKDAY:
        return f"{low}-{high}" if step == "1" else f"{low}-{high}/{step}"
    if not step.isdecimal() or not 1 <= int(step) <= field.size:
        field.refuse(f"has the step {step!r}, and only 1 to {field.size} can be taken")
    return ",".join(map(str, field.values(low, high)[:: int(step)]))
