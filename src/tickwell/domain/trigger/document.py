"""A trigger as a JSON document: the one form that API, files and stores share."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from tickwell.domain.trigger.business_days import BusinessDays
from tickwell.domain.trigger.calendar import Calendar
from tickwell.domain.trigger.calendar_every import UNITS, CalendarEvery
from tickwell.domain.trigger.cron import Cron
from tickwell.domain.trigger.custom import CustomTrigger
from tickwell.domain.trigger.document_reading import read_trigger
from tickwell.domain.trigger.duration import format_duration
from tickwell.domain.trigger.every import Every
from tickwell.domain.trigger.moment import to_text
from tickwell.domain.trigger.once import Once
from tickwell.domain.trigger.rrule import RRule
from tickwell.domain.trigger.several import Several
from tickwell.domain.trigger.trigger import Trigger
from tickwell.domain.trigger.window import Window


def trigger_from_document(document: Mapping[str, Any]) -> Trigger:
    """The trigger that a document describes."""
    return read_trigger(document, "")


def trigger_to_document(trigger: Trigger) -> dict[str, Any]:
    """The canonical document of a trigger: defaults are left out."""
    return _kind(trigger) | _common(trigger)


def _kind(trigger: Trigger) -> dict[str, Any]:
    match trigger:
        case Cron() | CalendarEvery() | RRule():
            return _zoned(trigger)
        case Every():
            found = {"every": format_duration(trigger.period)} | _given(
                after="finish" if trigger.follows_finish else None,
                phase=format_duration(trigger.phase) if trigger.phase else None,
            )
        case Once():
            found = {"once": to_text(trigger.at)}
        case Several():
            found = {trigger.KIND: [trigger_to_document(member) for member in trigger.members]}
        case CustomTrigger():
            args = trigger.arguments or None
            found = {"custom": {"name": trigger.registered_as} | _given(args=args)}
        case _:
            found = {"on_demand": True}
    return found


def _zoned(trigger: Cron | CalendarEvery | RRule) -> dict[str, Any]:
    found: dict[str, Any]
    if isinstance(trigger, Cron):
        dialect = None if trigger.dialect == "cron" else trigger.dialect
        found = {"cron": trigger.expr} | _given(dialect=dialect)
    elif isinstance(trigger, RRule):
        found = {"rrule": trigger.rrule, "dtstart": _wall_text(trigger.dtstart)} | _given(
            exdates=[_wall_text(each) for each in trigger.exdates] or None,
            rdates=[_wall_text(each) for each in trigger.rdates] or None,
        )
    else:
        units = {name: getattr(trigger, name) for name in UNITS if getattr(trigger, name)}
        found = {"calendar_every": units, "anchor": _wall_text(trigger.anchor)}
    return found | _given(
        tz=trigger.tz if trigger.tz != "UTC" else None,
        dst_gap=trigger.dst_gap if trigger.dst_gap != "shift" else None,
        dst_fold=trigger.dst_fold if trigger.dst_fold != "first" else None,
        business_days=_business_days(trigger.business_days),
    )


def _wall_text(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


def _business_days(days: BusinessDays | None) -> dict[str, Any] | None:
    if days is None:
        return None
    return {"shift": days.shift} | _given(
        holidays=[_calendar(calendar) for calendar in days.holidays] or None,
        weekend=days.weekend if days.weekend != "sat,sun" else None,
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


def _calendar(calendar: Calendar) -> dict[str, Any] | str:
    if calendar.version == 0:
        return calendar.name
    return {"name": calendar.name} | _given(
        version=calendar.version,
        dates=[day.isoformat() for day in calendar.dates] or None,
        ranges=[{"from": str(first), "to": str(last)} for first, last in calendar.ranges] or None,
        tz=calendar.tz,
    )


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
