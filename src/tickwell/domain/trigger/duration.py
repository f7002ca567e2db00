"""Durations as people write them: "5m", "1h30m", "PT5M". Kept as milliseconds."""

from __future__ import annotations

import re
from datetime import timedelta

from tickwell.errors import InvalidTrigger

#: How people give a duration: as text, as a timedelta, or as milliseconds.
Duration = str | timedelta | int

_UNITS = {"w": 604_800_000, "d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1}
_WORDS = {"d": "day", "h": "hour", "m": "minute", "s": "second", "ms": "millisecond"}
#: A hundred years: more is a slip of the pen.
LONGEST = 36_525 * _UNITS["d"]

_SHORT = re.compile("".join(rf"(?:([0-9]+){unit})?" for unit in _UNITS))
_ISO = re.compile(
    r"P(?:([0-9]+)W)?(?:([0-9]+)D)?"
    r"(?:T(?=[0-9])(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+)(?:[.,]([0-9]{1,3}))?S)?)?"
)


def parse_duration(value: Duration, *, field: str = "duration") -> int:
    """Milliseconds: of a text, of a timedelta, or an int that counts them already."""
    if isinstance(value, timedelta):
        millis = value // timedelta(milliseconds=1)
    elif isinstance(value, str):
        millis = _read(value, field)
    elif isinstance(value, int) and not isinstance(value, bool):
        millis = value
    else:
        raise InvalidTrigger("is not a duration", field=field, hint="For example: 5m, 1h30m")
    if not 0 <= millis <= LONGEST:
        raise InvalidTrigger(
            "must be between 0 and 100 years", field=field, hint="For example: 5m, 1h30m"
        )
    return millis


def format_duration(millis: int) -> str:
    """The shortest text that `parse_duration` reads as this: 5400000 is 1h30m."""
    if millis and millis % _UNITS["w"] == 0:
        return f"{millis // _UNITS['w']}w"
    text = ""
    for unit, amount in _parts(millis):
        text += f"{amount}{unit}"
    return text or "0s"


def say_duration(millis: int) -> str:
    """In words: 5400000 is "1 hour 30 minutes", 3600000 is "hour" after "every"."""
    parts = _parts(millis)
    if len(parts) == 1 and parts[0][1] == 1:
        return _WORDS[parts[0][0]]
    return " ".join(f"{amount} {_WORDS[unit]}{'s' * (amount > 1)}" for unit, amount in parts)


def _parts(millis: int) -> list[tuple[str, int]]:
    parts = []
    for unit in _WORDS:
        amount, millis = divmod(millis, _UNITS[unit])
        if amount:
            parts.append((unit, amount))
    return parts


def _read(text: str, field: str) -> int:
    hint = "For example: 500ms, 5s, 5m, 2h, 3d, 1w, 1h30m, PT5M"
    if not text or len(text) > 64:
        raise InvalidTrigger("is not a duration", field=field, hint=hint)
    if match := _SHORT.fullmatch(text.strip().lower()):
        if any(match.groups()):
            return sum(
                int(amount or 0) * size
                for amount, size in zip(match.groups(), _UNITS.values(), strict=True)
            )
    elif (match := _ISO.fullmatch(text.strip().upper())) and any(match.groups()):
        *amounts, fraction = match.groups()
        sizes = list(_UNITS.values())[:5]
        whole = sum(int(a or 0) * size for a, size in zip(amounts, sizes, strict=True))
        return whole + int((fraction or "").ljust(3, "0"))
    raise InvalidTrigger(f"{text!r} is not a duration", field=field, hint=hint)
