"""Datetimes at the edge of a trigger: aware, UTC, whole milliseconds."""

from __future__ import annotations

from datetime import datetime

from tickwell.clock import to_datetime, to_millis
from tickwell.errors import InvalidTrigger


def exact(moment: object, field: str) -> datetime:
    """The same moment in UTC; what is finer than a millisecond is cut off."""
    if not isinstance(moment, datetime) or moment.utcoffset() is None:
        raise no_instant(moment, field)
    try:
        return to_datetime(to_millis(moment))
    except OverflowError:
        raise InvalidTrigger("is outside the years 1 to 9999", field=field) from None


def no_instant(moment: object, field: str) -> InvalidTrigger:
    """The error for a datetime that does not say its zone, and for what is no datetime at all."""
    if not isinstance(moment, datetime):
        hint = "For example: datetime(2026, 11, 15, 9, tzinfo=UTC)"
        return InvalidTrigger("is not a datetime", field=field, hint=hint)
    hint = "Give it one: datetime(…, tzinfo=UTC)"
    return InvalidTrigger("the datetime has no time zone", field=field, hint=hint)


def say(moment: datetime) -> str:
    """Short, for a person."""
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC").replace(":00 UTC", " UTC")


def to_text(moment: datetime) -> str:
    """As documents have it: 2026-11-15T09:00:00.000Z."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
