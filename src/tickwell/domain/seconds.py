"""Durations of settings: people write text with a unit or a timedelta, loops read seconds."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from tickwell.domain.trigger.duration import format_duration, parse_duration


class Seconds(float):
    """Seconds of a duration that was read already; a bare float does not say its unit."""

    __slots__ = ()

    def __str__(self) -> str:
        """As people write it, so that what is shown can be written back: 500ms, 1h30m."""
        return format_duration(round(self * 1000))


def read_seconds(value: object, *, field: str) -> Seconds:
    """Seconds of a text with a unit, or of a timedelta."""
    if isinstance(value, Seconds):
        return value
    raw: Any = value  # parse_duration refuses every other kind
    return Seconds(parse_duration(raw, field=field) / 1000)


if TYPE_CHECKING:

    class SecondsField:
        """A field that is written as a duration and read as seconds."""

        def __get__(self, record: object, kind: type) -> float: ...

        def __set__(self, record: object, value: str | timedelta | Seconds) -> None: ...

else:
    SecondsField = Seconds


def default(text: str) -> Any:
    """The default of a field."""
    return read_seconds(text, field="default")
