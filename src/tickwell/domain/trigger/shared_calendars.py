"""Calendars of the project in a trigger: which it names, and their days put in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from tickwell.domain.trigger.calendar import Calendar
from tickwell.domain.trigger.calendar_every import CalendarEvery
from tickwell.domain.trigger.cron import Cron
from tickwell.domain.trigger.rrule import RRule
from tickwell.domain.trigger.several import Several
from tickwell.domain.trigger.trigger import Trigger


def shared_calendars(trigger: Trigger) -> Iterator[Calendar]:
    """The shared calendars that a trigger names, as it has them."""
    yield from (each for each in trigger.exclude if each.is_shared)
    if isinstance(trigger, Cron | CalendarEvery | RRule) and trigger.business_days is not None:
        yield from (each for each in trigger.business_days.holidays if each.is_shared)
    if isinstance(trigger, Several):
        for member in trigger.members:
            yield from shared_calendars(member)


def with_calendars(trigger: Trigger, found: Mapping[str, Calendar]) -> Trigger:
    """The same trigger with the days of these calendars, by name."""
    return _replaced(trigger, lambda each: found.get(each.name, each))


def without_days(trigger: Trigger) -> Trigger:
    """The same trigger as its author wrote it: with the names of shared calendars only."""
    return _replaced(trigger, lambda each: Calendar(each.name, version=0))


def _replaced(trigger: Trigger, swap: Callable[[Calendar], Calendar]) -> Trigger:
    if next(shared_calendars(trigger), None) is None:
        return trigger
    changes: dict[str, Any] = {"exclude": _each(trigger.exclude, swap)}
    if isinstance(trigger, Cron | CalendarEvery | RRule) and trigger.business_days is not None:
        days = trigger.business_days
        changes["business_days"] = replace(days, holidays=_each(days.holidays, swap))
    if isinstance(trigger, Several):
        changes["members"] = tuple(_replaced(member, swap) for member in trigger.members)
    return replace(trigger, **changes)


def _each(
    calendars: tuple[Calendar, ...], swap: Callable[[Calendar], Calendar]
) -> tuple[Calendar, ...]:
    return tuple(swap(each) if each.is_shared else each for each in calendars)
