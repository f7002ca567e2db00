"""Results of handlers, as they are stored: JSON by the rules of arguments.

What is not JSON, or too large, is stored as a marked note for people. A note is never handed to the
next run as if it were the result.
"""

from __future__ import annotations

import json
from typing import Any

from tickwell.domain.payload import DEEPEST
from tickwell.errors import InvalidPayload
from tickwell.executors.jsonable import jsonable
from tickwell.executors.text import clean

#: Characters of JSON that a result may have.
LIMIT = 64_000
#: Only a note has this field, and it says why the result was not stored.
MARK = "tickwell:not-stored"


def stored(result: Any) -> Any:
    """The result as JSON; a note that says why not, and how the result begins."""
    try:
        text = as_json(result)
    except Exception as error:  # noqa: BLE001 - a result must not turn success into failure
        why = f"{type(result).__name__} is not JSON: {clean(str(error))[:200]}"
        return {MARK: why, "begins": represented(result)[:LIMIT]}
    if len(text) > LIMIT:
        return {MARK: f"{len(text)} characters are more than {LIMIT}", "begins": text[:LIMIT]}
    return json.loads(text)


def as_json(value: Any) -> str:
    """The value as every store can keep it; raises what Python does for what is no JSON."""
    text = clean(json.dumps(jsonable(value), allow_nan=False, ensure_ascii=False))
    if text.count("[") + text.count("{") > DEEPEST and _depth(json.loads(text)) > DEEPEST:
        raise ValueError(f"it is nested more than {DEEPEST} deep")
    return text


def _depth(value: Any) -> int:
    """Lists in lists and objects in objects, counted level by level."""
    level, depth = [value], -1
    while level:
        depth += 1
        inner = [each for each in level if isinstance(each, dict | list)]
        level = [
            one for each in inner for one in (each.values() if isinstance(each, dict) else each)
        ]
    return depth


def whole(result: Any) -> Any:
    """A stored result; refused if only a note was stored."""
    if isinstance(result, dict) and MARK in result:
        raise InvalidPayload(
            f"the result was not stored: {result[MARK]}",
            field="last_result",
            hint="Return less: store it elsewhere and return its address",
        )
    return result


def represented(result: Any) -> str:
    """Its repr, if it has one."""
    try:
        return clean(repr(result))
    except Exception:  # noqa: BLE001 - a result must not turn success into failure
        return f"<{type(result).__name__}>"
