"""Cursors of lists: opaque, and good only for the project and the filter that they came from."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from typing import Any

from tickwell.errors import InvalidInput

_DIGEST = 12


def sealed(cursor: str | None, *scope: Any) -> str | None:
    """A store's cursor as the API gives it away."""
    if cursor is None:
        return None
    return urlsafe_b64encode(_digest(cursor, scope) + cursor.encode()).decode().rstrip("=")


def opened(given: str | None, *scope: Any) -> str | None:
    """The store's cursor in what a client sent back."""
    if given is None:
        return None
    try:
        raw = urlsafe_b64decode(given + "=" * (-len(given) % 4))
        cursor = raw[_DIGEST:].decode()
    except ValueError:  # neither base64 nor UTF-8
        raise _unfit() from None
    if raw[:_DIGEST] != _digest(cursor, scope):
        raise _unfit()
    return cursor


def _digest(cursor: str, scope: tuple[Any, ...]) -> bytes:
    parts = (cursor, *map(_plain, scope))
    return blake2b(repr(parts).encode(), digest_size=_DIGEST).digest()


def _plain(value: Any) -> Any:
    """The same in every process: sets have no order, and each process has its own."""
    if is_dataclass(value) and not isinstance(value, type):
        return [_plain(getattr(value, field.name)) for field in fields(value)]
    return sorted(map(str, value)) if isinstance(value, frozenset) else value


def _unfit() -> InvalidInput:
    return InvalidInput(
        "the cursor is not one of this list",
        field="cursor",
        hint="Pass next_cursor of the page before, with the same filter",
    )
