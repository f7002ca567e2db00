"""Cursors of lists: opaque, and good only for the project and the filter that they came from."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
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
    return blake2b(repr((cursor, scope)).encode(), digest_size=_DIGEST).digest()


def _unfit() -> InvalidInput:
    return InvalidInput(
        "the cursor is not one of this list",
        field="cursor",
        hint="Pass next_cursor of the page before, with the same filter",
    )
