"""Every operation, declared once, in groups by noun."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module

from tickwell.services.operations.declaration import Group, Operation

#: The groups in the order of the API's description, each by its module: a command loads no more
#: of them than it takes to find what it calls, and most call operations on jobs.
_GROUPS = (
    ("jobs", "GROUP"),
    ("executions", "GROUP"),
    ("executions", "DEAD_LETTERS"),
    ("project_pauses", "GROUP"),
    ("maintenance", "GROUP"),
    ("backlogs", "GROUP"),
    ("service", "QUEUES"),
    ("service", "WORKERS"),
    ("service", "OBSERVABILITY"),
    ("service", "HEALTH"),
    ("monitors", "GROUP"),
    ("alerts", "GROUP"),
    ("service", "BULK"),
    ("service", "PREVIEWS"),
    ("calendars", "GROUP"),
    ("admin", "KEYS"),
    ("admin", "MEMBERS"),
    ("admin", "USERS"),
    ("admin", "PROJECTS"),
    ("admin", "RETENTION"),
    ("admin", "SECRETS"),
    ("admin", "AUDIT"),
    ("admin", "CALLBACKS"),
    ("admin", "SESSION"),
    ("admin", "TOKENS"),
)


def _groups() -> Iterator[Group]:
    for module, name in _GROUPS:
        group: Group = getattr(import_module(f"{__name__}.{module}"), name)
        yield group


@cache
def operations() -> Mapping[str, Operation]:
    """All of them by id."""
    return {each.id: each for group in _groups() for each in group.operations}


def operation(id: str) -> Operation:
    """One of them."""
    return next(each for group in _groups() for each in group.operations if each.id == id)
