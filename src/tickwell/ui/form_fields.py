"""The fields of the job form, and the path of each in the job document."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from tickwell.domain.trigger.duration import parse_duration
from tickwell.errors import InvalidInput
from tickwell.services.time import After
from tickwell.web.bodies import ONE, parsed
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


def parse_delay(value: str, field: str) -> After | None:
    """A delay from now, such as 2h; None if it is blank."""
    return After(parse_duration(value, field=field)) if value.strip() else None


def parse_instant(text: str, zone: ZoneInfo, field: str) -> int | None:
    """What a field for date and time holds, on the visitor's clock."""
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
        aware = found if found.tzinfo else found.replace(tzinfo=zone)
        return int(aware.timestamp() * 1000)
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"{text[:30]!r} is not a date and time", field=field, hint="Use 2026-11-16T09:00"
        ) from None


#: Fields that hold one value, and their paths in the document.
FIELD_PATHS = {
    "name": ("name",),
    "description": ("description",),
    "queue": ("queue",),
    "cron": ("trigger", "cron"),
    "tz": ("trigger", "tz"),
    "dialect": ("trigger", "dialect"),
    "every": ("trigger", "every"),
    "once": ("trigger", "once"),
    "url": ("target", "http", "url"),
    "method": ("target", "http", "method"),
    "timeout": ("target", "http", "timeout"),
    "handler": ("target", "call", "handler"),
    "task": ("target", "celery", "task"),
    "celery_queue": ("target", "celery", "queue"),
    "overlap": ("overlap",),
    "misfire": ("misfire", "policy"),
    "rate": ("rate",),
    "rate_key": ("rate_key",),
    "only_if": ("only_if",),
    "check_in": ("check_in",),
    "unless": ("unless",),
    "unique_key": ("unique_key",),
    "debounce": ("debounce",),
    "debounce_max": ("debounce_max",),
    "max_attempts": ("retry", "max_attempts"),
    "delay": ("retry", "delay"),
}
#: Fields that hold several values, and their paths in the document.
MULTI_VALUE_PATHS = {
    "tags": ("tags",),
    "payload": ("payload",),
    "args": ("target", "celery", "args"),
    "kwargs": ("target", "celery", "kwargs"),
    "headers": ("target", "http", "headers"),
    "sign_with": ("target", "http", "sign_with"),
    "bearer": ("target", "http", "auth", "bearer", "token"),
}
#: The fields of each kind of trigger and of target.
TRIGGERS = {
    "cron": ("cron", "tz", "dialect"),
    "every": ("every",),
    "once": ("once",),
    "on_demand": (),
}
TARGETS = {
    "http": ("url", "method", "timeout"),
    "call": ("handler",),
    "celery": ("task", "celery_queue"),
}
#: A kind that the form has no fields for: the document keeps it unchanged.
OTHER = "other"
#: Defaults, which the document leaves out.
DEFAULTS = {
    "queue": "default",
    "method": "POST",
    "overlap": "skip",
    "misfire": "latest",
    "dialect": "cron",
}
#: The trigger of a kind that was just chosen.
INITIAL_TRIGGERS = {"cron": {"cron": "0 9 * * *"}, "every": {"every": "5m"}, "once": {"once": ""}}
#: Fields that a job needs: stored even when empty, so that the error is shown next to them.
REQUIRED = {"name", "cron", "every", "once", "url", "handler", "task"}
#: Paths that a new job leaves blank: their first value, and a valid one.
PLACEHOLDERS = {
    ("name",): ("", "new"),
    ("trigger", "once"): ("", "2999-01-01T00:00:00Z"),
    ("target", "http", "url"): ("https://", "https://example.com"),
    ("target", "call", "handler"): ("", "new"),
    ("target", "celery", "task"): ("", "new"),
}


def get(document: Any, path: tuple[str, ...]) -> Any:
    """The value at a path; None if there is none."""
    for name in path:
        document = document.get(name) if isinstance(document, dict) else None
    return document


def put(document: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    """Set the value at a path; None removes it."""
    *parents, last = path
    for name in parents:
        inner = document.get(name)
        if not isinstance(inner, dict):
            if value is None:
                return
            inner = document[name] = {}
        document = inner
    if value is None:
        document.pop(last, None)
    else:
        document[last] = value


def kind_of(document: Any, kinds: Mapping[str, tuple[str, ...]], default: str) -> str:
    """Which of the kinds a trigger or a target has."""
    if not isinstance(document, dict):
        return default
    return next((kind for kind in kinds if kind in document), default)


def within(path: str, outer: str) -> bool:
    """Whether a path is the outer one or below it: trigger.cron.minute is within trigger.cron."""
    return path == outer or path.startswith(f"{outer}.")
