"""What the scheduler's calls accept for an argument, and what they refuse."""

from __future__ import annotations

import inspect
from collections.abc import Collection
from enum import StrEnum
from typing import TypeVar

from tickwell.domain.trigger import Trigger
from tickwell.domain.trigger.default_zone import in_zone
from tickwell.errors import InvalidInput, InvalidTrigger

E = TypeVar("E", bound=StrEnum)


def states_of(raw: object, kind: type[E]) -> frozenset[E] | None:
    """One state or several, as members or by their names; None: no filter."""
    if raw is None:
        return None
    several = raw if isinstance(raw, Collection) and not isinstance(raw, str) else [raw]
    return frozenset(member_of(each, kind, "state") for each in several)


def member_of(raw: object, kind: type[E], field: str) -> E:
    """The member with this value, or an error that lists all of them."""
    try:
        return kind(str(raw))
    except ValueError:
        raise InvalidInput(
            f"unknown value {raw!r}; expected one of {', '.join(kind)}", field=field
        ) from None


def zoned_trigger(trigger: object, tz: str | None) -> Trigger:
    """The trigger, in this zone where it names none."""
    found = require_trigger(trigger)
    return found if tz is None else in_zone(found, tz)


def require_trigger(trigger: object) -> Trigger:
    """Refuse what is no trigger, by what it probably was meant to be."""
    if isinstance(trigger, list | tuple):
        raise InvalidTrigger(
            f"a {type(trigger).__name__} is not a trigger",
            field="trigger",
            hint="For several in one job: AnyOf(a, b), or a | b",
        )
    if inspect.isroutine(trigger):
        raise InvalidTrigger(
            f"the function {getattr(trigger, '__name__', '')!r} is not a trigger",
            field="trigger",
            hint="Write @scheduler.job() with parentheses; the function goes below it",
        )
    if not isinstance(trigger, Trigger):
        raise InvalidTrigger(
            f"{trigger!r} is not a trigger",
            field="trigger",
            hint='Write Cron("0 9 * * *") or Every("5m"), or leave it out: on demand',
        )
    return trigger
