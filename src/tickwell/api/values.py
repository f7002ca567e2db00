"""Values of bodies and parameters: instants, durations, flags, texts."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any, TypeVar

from tickwell.clock import NEVER, to_millis
from tickwell.domain.trigger.duration import read_duration
from tickwell.errors import InvalidInput
from tickwell.services.time import After, Moment

E = TypeVar("E", bound=StrEnum)

_EXAMPLE = "For example 2026-11-15T09:00:00Z"


def instant(value: Any, field: str) -> int | None:
    """RFC 3339 as an instant; None stays None."""
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > 64:
        raise InvalidInput("is not a date and time", field=field, hint=_EXAMPLE)
    try:
        moment = datetime.fromisoformat(value)
        if moment.utcoffset() is None:
            raise InvalidInput("does not say its offset from UTC", field=field, hint=_EXAMPLE)
        found = to_millis(moment)
    except (ValueError, OverflowError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput("is not a date and time", field=field, hint=_EXAMPLE) from None
    if not 0 <= found <= NEVER:
        raise InvalidInput("is outside the years 1970 to 9999", field=field, hint=_EXAMPLE)
    return found


def required_instant(value: Any, field: str) -> int:
    """The same, and it must be there."""
    found = instant(value, field)
    if found is None:
        raise InvalidInput("is missing", field=field, hint=_EXAMPLE)
    return found


def later(at: Any, delay: Any) -> Moment | None:
    """When a run is asked for: at an instant, or after a duration; None: now."""
    if at is not None and delay is not None:
        raise InvalidInput("at and in exclude each other", field="in")
    if delay is None:
        return instant(at, "at")
    return After(read_duration(delay, field="in"))


def flag(value: Any, field: str) -> bool:
    """True or false; missing is false."""
    if value is None:
        return False
    if not isinstance(value, bool):
        raise InvalidInput("is neither true nor false", field=field)
    return value


def text(value: Any, field: str, longest: int = 1000) -> str:
    """A text; missing is empty."""
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > longest:
        raise InvalidInput(f"is not a text of {longest} characters at most", field=field)
    return value


def choice(value: Any, field: str, kind: type[E]) -> E:
    """A word of an enumeration."""
    words = ", ".join(kind)
    if not isinstance(value, str) or value not in set(kind):
        raise InvalidInput("is not one of those known", field=field, hint=f"Known are {words}")
    return kind(value)


def choices(value: Any, field: str, kind: type[E]) -> list[E]:
    """Several words of an enumeration."""
    if value is None:
        raise InvalidInput("is missing", field=field, hint=f"Known are {', '.join(kind)}")
    if not isinstance(value, list):
        raise InvalidInput("is not a list", field=field, hint=f"Known are {', '.join(kind)}")
    return [choice(each, f"{field}.{number}", kind) for number, each in enumerate(value)]
