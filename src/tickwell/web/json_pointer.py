"""Where in a request something cannot be used: a JSON pointer into its body, or a parameter."""

from __future__ import annotations

import json
from typing import Any

from fastapi import Request

#: In the state of a request: its body, once it was read.
BODY = "body"
#: What is called otherwise inside, or is no part of a body: the parameter, and where it is.
_ELSEWHERE = {
    "Idempotency-Key": ("Idempotency-Key", "header"),
    "key": ("Idempotency-Key", "header"),
    "X-Tickwell-Project": ("X-Tickwell-Project", "header"),
    "cron": ("expr", "query"),
}


def document_of(request: Request) -> Any:
    """The body as far as it can be read, to find places in it; None: there is none."""
    body = request.scope.get("state", {}).get(BODY)
    try:
        return json.loads(body) if body else None
    except (ValueError, RecursionError):
        return None


def location_of(request: Request, document: Any, field: str) -> dict[str, str]:
    """The place of a field, which is a dotted path."""
    name = field.partition(".")[0]
    if not field or (isinstance(document, dict) and name in document):
        return {"pointer": pointer(field, document)}
    if name in _ELSEWHERE:
        name, where = _ELSEWHERE[name]
        return {"parameter": name, "in": where}
    if name in request.path_params:
        return {"parameter": name, "in": "path"}
    if BODY not in request.scope.get("state", {}):
        return {"parameter": name, "in": "query"}
    return {"pointer": pointer(field, document)}


def pointer(field: str, document: Any) -> str:
    """A dotted path as a JSON pointer: "trigger.cron.hour" is "/trigger/cron", which is a text."""
    found, dotted = "", f"{field}." if field else ""
    here = document if isinstance(document, dict | list) else None
    while dotted and isinstance(here, dict | list):
        name = _next(here, dotted)
        dotted = dotted[len(name) + 1 :]
        found += f"/{_escaped(name)}"
        here = _inner(here, name)
    if dotted and here is None:  # what is missing has no dots in its names
        found += f"/{_escaped(dotted[:-1]).replace('.', '/')}"
    return found


def _next(here: Any, dotted: str) -> str:
    """The name that the rest of a path begins with: dots may be in it."""
    known = here if isinstance(here, dict) else ()
    fitting = [name for name in known if dotted.startswith(f"{name}.")]
    return max(fitting, key=len, default=dotted.partition(".")[0])


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _inner(here: Any, name: str) -> Any:
    if isinstance(here, dict):
        return here.get(name)
    is_place = name.isdecimal() and int(name) < len(here)
    return here[int(name)] if is_place else None
