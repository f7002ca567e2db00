"""Flat job bodies on `/api`, as older schedulers had them: `schedule`, `url`, `enabled`."""

from __future__ import annotations

from typing import Any

from fastapi import Request

from tickwell.errors import InvalidInput, InvalidJob

#: Where each flat field has its place in the canonical document.
_PLACES = {
    "schedule": ("trigger", "cron"),
    "timezone": ("trigger", "tz"),
    "tz": ("trigger", "tz"),
    "dialect": ("trigger", "dialect"),
    "url": ("target", "http", "url"),
    "endpoint": ("target", "http", "url"),
    "method": ("target", "http", "method"),
    "headers": ("target", "http", "headers"),
    "query_params": ("target", "http", "query"),
    "body": ("target", "http", "json"),
}


#: For fields that are missing.
_EXAMPLES = {
    "schedule": '{"schedule": "0 9 * * *"}',
    "url": '{"url": "https://example.com/hook"}',
}


def takes_flat(request: Request) -> bool:
    """Whether the request came by the path that takes them."""
    path: str = request.scope["route"].path
    return not path.startswith("/api/v1/")


def canonical(document: Any) -> Any:
    """The canonical document, but for `enabled`; one that is canonical stays as it is."""
    if not isinstance(document, dict):
        return document
    # First what is canonical, in whatever order it came: then what is said twice is seen.
    found = {name: value for name, value in document.items() if name not in _PLACES}
    for name, place in _PLACES.items():
        if name in document:
            _put(found, place, document[name], name)
    return found


def _put(document: dict[str, Any], place: tuple[str, ...], value: Any, name: str) -> None:
    for part in place[:-1]:
        inner = document.get(part, {})
        if not isinstance(inner, dict):
            raise InvalidInput(f"{part} says it already", field=name)
        document[part] = inner.copy()  # not into what was sent
        document = document[part]
    if place[-1] in document:
        raise InvalidInput("is said twice", field=name)
    document[place[-1]] = value


def flat_error(error: InvalidInput, document: Any) -> InvalidInput:
    """The same error in the names of a client that sent a flat body."""
    found = [
        InvalidJob(each.reason, field=name, hint=_hint(each, name))
        for each in error.all
        for name in [flat_field(each.field, document)]
    ]
    return found[0].along_with(found[1:])


def _hint(error: InvalidInput, name: str) -> str:
    is_missing = error.field in {"trigger", "target"} and name in _EXAMPLES
    return f"For example {_EXAMPLES[name]}" if is_missing else error.hint


def flat_field(field: str, document: Any) -> str:
    """The name under which a client that sent a flat body knows a field."""
    if not isinstance(document, dict):
        return field
    for name, place in _PLACES.items():
        known = ".".join(place)
        if name in document and f"{field}.".startswith(f"{known}."):
            return name + field.removeprefix(known)
    # What is missing is named as the rest of the body is: flat.
    if field.partition(".")[0] not in document and document.keys() & _PLACES.keys():
        return next((name for name, place in _PLACES.items() if _leads(field, place)), field)
    return field


def _leads(field: str, place: tuple[str, ...]) -> bool:
    """Whether a missing field is this place, or what it would be in."""
    return f"{'.'.join(place)}.".startswith(f"{field}.")
