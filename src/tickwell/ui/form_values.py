"""Parses values typed into forms: JSON and integers."""

from __future__ import annotations

from typing import Any

from tickwell.errors import InvalidInput
from tickwell.web.bodies import parsed
from tickwell.web.bounds import ONE
from tickwell.web.problems import NotJson


def parse_json(text: str, field: str) -> Any:
    """JSON from a form field, within the bounds of the API; None if it is blank."""
    if not text.strip():
        return None
    body = text.encode(errors="replace")
    if len(body) > ONE:
        raise InvalidInput(f"must be at most {ONE} bytes", field=field)
    try:
        return parsed(body, "this")
    except NotJson as error:
        raise InvalidInput(str(error), field=field, hint='Use {"a": 1}') from None
    except InvalidInput as error:
        raise InvalidInput(str(error), field=field) from None


def parse_integer(value: object, field: str) -> int:
    """A non-negative integer from a form field; 0 if it is blank."""
    text = str(value or "0").strip()
    if not (text.isascii() and text.isdecimal() and len(text) < 17):
        raise InvalidInput("must be an integer of 0 or more", field=field, hint="0 means no limit")
    return int(text)
