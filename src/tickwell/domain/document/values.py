"""Single values of a document: how each kind is read, refused with a reason, and written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from math import isfinite
from typing import Any

from tickwell.clock import to_millis
from tickwell.domain.trigger import format_duration
from tickwell.domain.trigger.duration import Millis, read_duration
from tickwell.errors import InvalidTrigger


class Unfit(Exception):
    """Why a value cannot be used; the shape that knows the field turns it into an error."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        #: What to write instead; empty: the example of the field.
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Value:
    """How one kind of value is read and written."""

    #: Raises `Unfit` with the reason.
    read: Callable[[Any], Any]
    write: Callable[[Any], Any]


def _as_it_is(value: Any) -> Any:
    return value


def _read_text(value: Any) -> str:
    if not isinstance(value, str):
        raise Unfit("is not a text")
    return value


def _read_whole(value: Any) -> int:
    if type(value) is not int:  # a bool is an int, but nobody means it
        raise Unfit("is not a whole number")
    return value


def _read_real(value: Any) -> float:
    if type(value) not in {int, float} or not isfinite(value):
        raise Unfit("is not a number")
    return float(value)


def _read_flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Unfit("is neither true nor false")
    return value


def _read_texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(text, str) for text in value):
        raise Unfit("is not a list of texts")
    return tuple(value)


def _read_duration(value: Any) -> Millis:
    return _duration_of(value) if isinstance(value, str) else _checked_duration(value)


def _checked_duration(value: Any) -> Millis:
    try:
        return read_duration(value)
    except InvalidTrigger as error:
        raise Unfit(error.reason, error.hint) from None


# Jobs share a few durations; parsing one costs as much as five other fields.
_duration_of = lru_cache(maxsize=512)(_checked_duration)
_write_duration = lru_cache(maxsize=512)(format_duration)


def _read_instant(value: Any) -> int:
    if type(value) is int:
        return value
    if not isinstance(value, str):
        raise Unfit("is not an instant")
    try:
        moment = datetime.fromisoformat(value)
        if moment.utcoffset() is None:
            raise Unfit(f"{value!r} does not say its offset from UTC")
        return to_millis(moment)
    except (ValueError, OverflowError):
        raise Unfit(f"{value!r} is not an instant") from None


TEXT = Value(_read_text, _as_it_is)
WHOLE = Value(_read_whole, _as_it_is)
REAL = Value(_read_real, _as_it_is)
FLAG = Value(_read_flag, _as_it_is)
TEXTS = Value(_read_texts, list)
#: A text such as "5m".
DURATION = Value(_read_duration, _write_duration)
#: Milliseconds, or RFC 3339; written as milliseconds.
INSTANT = Value(_read_instant, _as_it_is)
ANY = Value(_as_it_is, _as_it_is)


def choice(kind: type[StrEnum]) -> Value:
    """One word of an enumeration."""
    members = {member.value: member for member in kind}

    def read(value: Any) -> StrEnum:
        try:
            return members[value]
        except (KeyError, TypeError):
            raise Unfit(f"{value!r} is not one of {', '.join(members)}") from None

    return Value(read, str)


def optional(value: Value) -> Value:
    """The same, or null."""
    inner = value.read

    def read(raw: Any) -> Any:
        return None if raw is None else inner(raw)

    return Value(read, value.write)
