"""Arguments and results as JSON: what handlers take and return is kept in a store."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any
from uuid import UUID

from tickwell.domain.trigger.duration import LONGEST, format_duration, parse_duration
from tickwell.executors import pydantic_types

#: Deeper than any payload may be.
_DEEPEST = 200
_MILLISECOND = timedelta(milliseconds=1)
#: A duration that is negative, or finer than a millisecond.
_SECONDS = re.compile(r"(-?)([0-9]{1,14})(?:\.([0-9]{1,6}))?s")


def _write_timedelta(value: timedelta) -> str:
    if not value % _MILLISECOND and timedelta(0) <= value <= LONGEST * _MILLISECOND:
        return format_duration(parse_duration(value))
    size = abs(value)
    seconds = size.days * 86_400 + size.seconds
    return f"{'-' * (value < timedelta(0))}{seconds}.{size.microseconds:06}s"


def read_timedelta(text: str) -> timedelta:
    """A duration as people write it, or as it was written here."""
    if match := _SECONDS.fullmatch(text):
        sign, seconds, fraction = match.groups()
        size = timedelta(seconds=int(seconds), microseconds=int((fraction or "0").ljust(6, "0")))
        return -size if sign else size
    return parse_duration(text) * _MILLISECOND


#: How values that are not containers are written; the first kind that fits.
_PLAIN: list[tuple[type, Callable[[Any], Any]]] = [
    (Enum, lambda value: jsonable(value.value)),
    (date, lambda value: value.isoformat()),
    (time, lambda value: value.isoformat()),
    (timedelta, _write_timedelta),
    (UUID, str),
    (Decimal, str),
    (PurePath, str),
]


def jsonable(value: Any, depth: int = 0) -> Any:
    """The same value in JSON's terms; what has none is left for the check of payloads to refuse."""
    if depth > _DEEPEST or value is None or type(value) in (str, int, float, bool):
        return value
    for kind, write in _PLAIN:
        if isinstance(value, kind):
            return write(value)
    if pydantic_types.knows(value):
        return pydantic_types.dumped(value)
    return _container(value, depth + 1)


def _container(value: Any, depth: int) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: jsonable(getattr(value, one.name), depth) for one in fields(value)}
    if isinstance(value, Mapping):
        return {_key(key): jsonable(inner, depth) for key, inner in value.items()}
    if isinstance(value, list | tuple | deque):
        return [jsonable(inner, depth) for inner in value]
    if isinstance(value, set | frozenset):  # in an order of its own, or each request differs
        return sorted((jsonable(inner, depth) for inner in value), key=_text)
    return value


def _key(key: Any) -> Any:
    """As an object has it: a text; what is none is left for the check of payloads to refuse."""
    written = jsonable(key)
    if isinstance(written, list | dict):
        return key
    return str(written) if type(written) is int else written


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=repr)
