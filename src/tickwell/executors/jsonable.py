"""Arguments and results as JSON: what handlers take and return is kept in a store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from datetime import date, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from tickwell.domain.trigger.duration import format_duration, parse_duration

#: Deeper than any payload may be.
_DEEPEST = 200
#: How values that are not containers are written; the first kind that fits.
_PLAIN: list[tuple[type, Callable[[Any], Any]]] = [
    (Enum, lambda value: value.value),
    (date, lambda value: value.isoformat()),
    (timedelta, lambda value: format_duration(parse_duration(value))),
    (UUID, str),
    (Decimal, str),
]


def jsonable(value: Any, depth: int = 0) -> Any:
    """The same value in JSON's terms; what has none is left for the check of payloads to refuse."""
    if depth > _DEEPEST:
        return value
    for kind, write in _PLAIN:
        if isinstance(value, kind):
            return write(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: jsonable(getattr(value, one.name), depth + 1) for one in fields(value)}
    if isinstance(value, dict):
        return {key: jsonable(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [jsonable(inner, depth + 1) for inner in value]
    return value
