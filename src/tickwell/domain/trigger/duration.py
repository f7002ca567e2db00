"""Durations as people write them: "5m", "1h30m", "0.5s", "PT5M". Stored as milliseconds."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tickwell.errors import InvalidTrigger


class Millis(int):
    """Milliseconds of a duration that was read already; a bare int does not say its unit."""

    __slots__ = ()


if TYPE_CHECKING:

    class MillisField:
        """A field of a record that is written as a duration and read as milliseconds."""

        def __get__(self, record: object, kind: type) -> int: ...

        def __set__(self, record: object, value: str | timedelta | Millis) -> None: ...

else:
    MillisField = Millis

#: How people write a duration: text with a unit, or a timedelta. Code of ours has Millis.
Duration = str | timedelta | Millis

_UNITS = {"w": 604_800_000, "d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1}
_WORDS = {"d": "day", "h": "hour", "m": "minute", "s": "second", "ms": "millisecond"}
#: A hundred years: more is a slip of the pen.
LONGEST = 36_525 * _UNITS["d"]

_AMOUNT = r"[0-9]+(?:\.[0-9]{1,12})?"
_SHORT = re.compile("".join(rf"(?:({_AMOUNT}){unit})?" for unit in _UNITS))
_BARE = re.compile(_AMOUNT)
_EXAMPLES = "For example: 500ms, 5s, 5m, 2h, 3d, 1w, 1h30m, 0.5s, PT5M"
_ISO = re.compile(
    r"P(?:([0-9]+)W)?(?:([0-9]+)D)?"
    r"(?:T(?=[0-9])(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+)(?:[.,]([0-9]{1,3}))?S)?)?"
)


def parse_duration(value: Duration, *, field: str = "duration") -> Millis:
    """Milliseconds of a text with a unit, or of a timedelta; a bare number is refused."""
    if isinstance(value, Millis):
        return value
    if isinstance(value, timedelta):
        millis = value // timedelta(milliseconds=1)
    elif isinstance(value, str):
        millis = _read(value, field)
    else:
        raise _not_a_duration(value, field)
    if not 0 <= millis <= LONGEST:
        raise InvalidTrigger("must be between 0 and 100 years", field=field, hint=_EXAMPLES)
    return Millis(millis)


def default(text: str) -> Any:
    """The default of a field."""
    return parse_duration(text)


def read_duration(value: object, *, field: str = "duration") -> Millis:
    """The same for documents, files and variables, where a timedelta cannot be passed."""
    raw = value if isinstance(value, str) else _in_text(value, field)
    return parse_duration(raw, field=field)


def _in_text(value: object, field: str) -> str:
    """A bare number as the text that is refused for having no unit."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= LONGEST:
        return f"{value:.3f}".rstrip("0").rstrip(".")
    raise _not_a_duration(value, field)


def _without_unit(amount: str, field: str, other: str = "") -> InvalidTrigger:
    """The error for a bare number: Celery counts seconds, JavaScript milliseconds."""
    readings = [f'"{amount}s" for seconds']
    if "." not in amount:
        readings.append(f'"{amount}ms" for milliseconds')
    hint = f"Write {' or '.join(readings)}{other}"
    return InvalidTrigger(f"must have a unit; got {amount}", field=field, hint=hint)


def _not_a_duration(value: object, field: str) -> InvalidTrigger:
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not 0 <= value <= LONGEST:
            return InvalidTrigger("must be between 0 and 100 years", field=field, hint=_EXAMPLES)
        return _without_unit(_in_text(value, field), field, ", or pass a timedelta")
    return InvalidTrigger("is not a duration", field=field, hint=_EXAMPLES)


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


@lru_cache(maxsize=512)
def _read(text: str, field: str) -> int:
    if not text or len(text) > 64:
        raise InvalidTrigger("is not a duration", field=field, hint=_EXAMPLES)
    if match := _SHORT.fullmatch(text.strip().lower()):
        if any(match.groups()):
            return _sum(match.groups(), text, field)
    elif (match := _ISO.fullmatch(text.strip().upper())) and any(match.groups()):
        *amounts, fraction = match.groups()
        sizes = list(_UNITS.values())[:5]
        whole = sum(int(a or 0) * size for a, size in zip(amounts, sizes, strict=True))
        return whole + int((fraction or "").ljust(3, "0"))
    elif _BARE.fullmatch(text.strip()):
        raise _without_unit(text.strip(), field)
    raise InvalidTrigger(f"{text!r} is not a duration", field=field, hint=_EXAMPLES)


def _sum(amounts: tuple[str | None, ...], text: str, field: str) -> int:
    if "." not in text:
        return sum(int(a or 0) * size for a, size in zip(amounts, _UNITS.values(), strict=True))
    millis = sum(Decimal(a or 0) * size for a, size in zip(amounts, _UNITS.values(), strict=True))
    if millis != int(millis):
        raise InvalidTrigger(f"{text!r} is finer than a millisecond", field=field, hint=_EXAMPLES)
    return int(millis)
