"""What people type into forms."""

from __future__ import annotations

from typing import Any

from tickwell.errors import InvalidInput
from tickwell.web.bodies import parsed
from tickwell.web.bounds import ONE
from tickwell.web.problems import NotJson


def json_of(text: str, field: str) -> Any:
    """JSON that somebody typed, within the bounds of the API; None for nothing."""
    if not text.strip():
        return None
    body = text.encode(errors="replace")
    if len(body) > ONE:
        raise InvalidInput(f"has more than {ONE} bytes", field=field)
    try:
        return parsed(body, "this")
    except NotJson as error:
        raise InvalidInput(str(error), field=field, hint='Use {"a": 1}') from None
    except InvalidInput as error:
        raise InvalidInput(str(error), field=field) from None


def whole(value: object, field: str) -> int:
    """A whole number that somebody typed; 0 for nothing."""
    text = str(value or "0").strip()
    if not (text.isascii() and text.isdecimal() and len(text) < 17):
        raise InvalidInput("a whole number is needed", field=field, hint="0 is none")
    return int(text)
