"""Payloads: JSON, and not too much of it."""

from __future__ import annotations

import json
from math import isfinite
from typing import Any, Final

from tickwell.errors import InvalidPayload

#: Bytes of JSON that a payload may have.
LARGEST = 1024 * 1024
#: Leave a payload as it is; None is a payload too.
KEEP: Final[Any] = object()
#: Lists in lists and objects in objects.
DEEPEST = 100


def checked(payload: Any, field: str = "payload") -> Any:
    """A copy of the payload as every store gives it back; refused if it is not JSON."""
    _check(payload, field, 0)
    text = json.dumps(payload, allow_nan=False, ensure_ascii=False)
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise InvalidPayload("contains an unpaired surrogate", field=field) from None
    if size > LARGEST:
        raise InvalidPayload(
            f"{size} bytes are more than {LARGEST}",
            field=field,
            hint="Store it elsewhere and pass its address",
        )
    return json.loads(text)


def _check(value: Any, field: str, depth: int) -> None:
    if depth > DEEPEST:
        raise InvalidPayload(f"is nested more than {DEEPEST} deep", field=field)
    if isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise InvalidPayload(
                    f"the key {key!r} is not a text", field=field, hint=f'Write "{key}"'
                )
            _check(inner, f"{field}.{key}" if depth < 5 else field, depth + 1)
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            _check(inner, f"{field}.{number}" if depth < 5 else field, depth + 1)
    elif isinstance(value, float) and not isfinite(value):
        raise InvalidPayload(f"{value} is not a number in JSON", field=field, hint="Use null")
    elif isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 63:
        reason = "a whole number may have at most 64 bits"
        raise InvalidPayload(reason, field=field, hint="Use a text")
    elif value is not None and not isinstance(value, str | int | float):
        raise InvalidPayload(
            f"{type(value).__name__} is not JSON",
            field=field,
            hint="Use texts, numbers, true, false, null, lists and objects",
        )
