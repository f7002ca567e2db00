"""A trigger as a JSON document: the one form that API, files and stores share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tickwell.domain.trigger.calendar import Calendar
from tickwell.domain.trigger.calendar_every import UNITS, CalendarEvery
from tickwell.domain.trigger.cron import Cron
from tickwell.domain.trigger.document_reading import read_trigger
from tickwell.domain.trigger.duration import format_duration
from tickwell.domain.trigger.every import Every
from tickwell.domain.trigger.moment import to_text
from tickwell.domain.trigger.once import Once
from tickwell.domain.trigger.trigger import Trigger
from tickwell.domain.trigger.union import Union
from tickwell.domain.trigger.window import Window


def trigger_from_document(document: Mapping[str, Any]) -> Trigger:
    """The trigger that a document describes."""
    return read_trigger(document, "")


def trigger_to_document(trigger: Trigger) -> dict[str, Any]:
    """The canonical document of a trigger: defaults are left out."""
    return _kind(trigger) | _common(trigger)


def _kind(trigger: Trigger) -> dict[str, Any]:
    match trigger:
        case Cron():
            dialect = None if trigger.dialect == "cron" else trigger.dialect
            return {"cron": trigger.expr} | _given(dialect=dialect) | _zoned(trigger)
        case CalendarEvery():
            units = {name: getattr(trigger, name) for name in UNITS if getattr(trigger, name)}
            anchor = trigger.anchor.isoformat(timespec="seconds")
            return {"calendar_every": units, "anchor": anchor} | _zoned(trigger)
        case Every():
            return {"every": format_duration(trigger.period)} | _given(
                after="finish" if trigger.follows_finish else None,
                phase=format_duration(trigger.phase) if trigger.phase else None,
            )
        case Once():
            return {"once": to_text(trigger.at)}
        case Union():
            return {"any_of": [trigger_to_document(member) for member in trigger.members]}
        case _:
            return {"on_demand": True}


def _zoned(trigger: Cron | CalendarEvery) -> dict[str, Any]:
    return _given(
        tz=trigger.tz if trigger.tz != "UTC" else None,
        dst_gap=trigger.dst_gap if trigger.dst_gap != "shift" else None,
        dst_fold=trigger.dst_fold if trigger.dst_fold != "first" else None,
    )


def _common(trigger: Trigger) -> dict[str, Any]:
    return _given(
        start=to_text(trigger.start) if trigger.start else None,
        until=to_text(trigger.until) if trigger.until else None,
        max_runs=trigger.max_runs,
        within=[_window(window) for window in trigger.within] or None,
        exclude=[_calendar(calendar) for calendar in trigger.exclude] or None,
        jitter=format_duration(trigger.jitter) if trigger.jitter else None,
    )


def _window(window: Window) -> dict[str, Any]:
    hours = {"days": window.days, "from": window.opens, "to": window.closes}
    return hours | _given(tz=window.tz)


def _calendar(calendar: Calendar) -> dict[str, Any]:
    return {"name": calendar.name} | _given(
        dates=[day.isoformat() for day in calendar.dates] or None,
        ranges=[{"from": str(first), "to": str(last)} for first, last in calendar.ranges] or None,
        tz=calendar.tz,
    )


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
