"""Where each field of the form has its place in the job document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Fields of the form, and where each has its place in the document.
PLACES = {
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
    "max_attempts": ("retry", "max_attempts"),
    "delay": ("retry", "delay"),
}
#: Fields that are more than one value, and where each has its place.
FOLDED = {
    "tags": ("tags",),
    "payload": ("payload",),
    "args": ("target", "celery", "args"),
    "kwargs": ("target", "celery", "kwargs"),
    "headers": ("target", "http", "headers"),
    "sign_with": ("target", "http", "sign_with"),
    "bearer": ("target", "http", "auth", "bearer", "token"),
}
#: Which fields of the trigger and of the target go with which kind.
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
#: A kind that the form has no fields for: what the document says of it stays.
OTHER = "other"
#: What the document does not say because it is the default.
DEFAULTS = {
    "queue": "default",
    "method": "POST",
    "overlap": "skip",
    "misfire": "latest",
    "dialect": "cron",
}
#: What a kind begins with when somebody chooses it.
STARTS = {"cron": {"cron": "0 9 * * *"}, "every": {"every": "5m"}, "once": {"once": ""}}
#: What a job cannot do without: kept when it is empty, so that its place says so.
NEEDED = {"name", "cron", "every", "once", "url", "handler", "task"}
#: What places begin with, and something that would be right there.
UNTOUCHED = {
    ("name",): ("", "new"),
    ("trigger", "once"): ("", "2999-01-01T00:00:00Z"),
    ("target", "http", "url"): ("https://", "https://example.com"),
    ("target", "call", "handler"): ("", "new"),
    ("target", "celery", "task"): ("", "new"),
}


def get(document: Any, place: tuple[str, ...]) -> Any:
    """What stands there, if anything does."""
    for name in place:
        document = document.get(name) if isinstance(document, dict) else None
    return document


def put(document: dict[str, Any], place: tuple[str, ...], value: Any) -> None:
    """Set what is given; take away what has its default."""
    *way, last = place
    for name in way:
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
    """Which of the kinds it is."""
    if not isinstance(document, dict):
        return default
    return next((kind for kind in kinds if kind in document), default)


def within(place: str, path: str) -> bool:
    """Whether it is the place itself or a part of it: trigger.cron.minute is in trigger.cron."""
    return place == path or place.startswith(f"{path}.")
