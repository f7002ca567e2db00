"""Page cursors as a store reads them: plain texts and numbers, or none of its own."""

from __future__ import annotations

import json
from typing import Any

from tickwell.errors import InvalidInput
from tickwell.ids import is_id
from tickwell.ports.records import JobFilter

#: Digits of an instant at most: a 64-bit integer holds it.
_DIGITS = 18


def require_job_cursor(where: JobFilter, cursor: str | None) -> None:
    """Refuse what cannot be "project, name, id" or, by time, "instant, id"."""
    if cursor is None:
        return
    first, *rest = cursor.split("\0")
    by_time = where.fires_before is not None
    if len(rest) != (1 if by_time else 2) or (by_time and not _is_instant(first)):
        raise _foreign()


def require_execution_cursor(cursor: str | None) -> None:
    """Refuse what cannot be the id of an execution."""
    if cursor is not None and not is_id(cursor):
        raise _foreign()


def read_values(cursor: str, kinds: tuple[type, ...]) -> list[Any]:
    """The values of a cursor in JSON, each of exactly its kind.

    On MongoDB any other value is a query: {"$regex": …} once held a listing for 7.4 s.
    """
    try:
        values = json.loads(cursor)
    except ValueError:
        raise _foreign() from None
    if not isinstance(values, list) or tuple(map(type, values)) != kinds:
        raise _foreign()
    return values


def _is_instant(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= _DIGITS


def _foreign() -> InvalidInput:
    return InvalidInput(
        "is not a cursor of this list",
        field="cursor",
        hint="Pass the cursor of the previous page, or None to start from the first page",
    )
