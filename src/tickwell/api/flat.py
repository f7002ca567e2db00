"""Flat job bodies on `/api`, as older schedulers had them: `schedule`, `url`, `enabled`."""

from __future__ import annotations

from typing import Any

from fastapi import Request

from tickwell.errors import InvalidInput

#: Where each flat field has its place in the canonical document.
_PLACES = {
    "schedule": ("trigger", "cron"),
    "timezone": ("trigger", "tz"),
    "tz": ("trigger", "tz"),
    "url": ("target", "http", "url"),
    "endpoint": ("target", "http", "url"),
    "method": ("target", "http", "method"),
    "headers": ("target", "http", "headers"),
    "query_params": ("target", "http", "query"),
    "body": ("target", "http", "json"),
}


def takes_flat(request: Request) -> bool:
    """Whether the request came by the path that takes them."""
    path: str = request.scope["route"].path
    return not path.startswith("/api/v1/")


def canonical(document: Any) -> tuple[Any, bool | None]:
    """The canonical document, and what `enabled` said; one that is canonical stays as it is."""
    if not isinstance(document, dict):
        return document, None
    enabled = document.get("enabled")
    if enabled is not None and not isinstance(enabled, bool):
        raise InvalidInput("is neither true nor false", field="enabled")
    # First what is canonical, in whatever order it came: then what is said twice is seen.
    found = {name: value for name, value in document.items() if name not in {*_PLACES, "enabled"}}
    for name, place in _PLACES.items():
        if name in document:
            _put(found, place, document[name], name)
    return found, enabled


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


def flat_field(field: str, document: Any) -> str:
    """The name under which a client that sent a flat body knows a field."""
    for name, place in _PLACES.items():
        known = ".".join(place)
        if isinstance(document, dict) and name in document and f"{field}.".startswith(f"{known}."):
            return name + field.removeprefix(known)
    return field
