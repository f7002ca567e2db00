"""The zone of triggers that name none, where their scheduler has a default."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tickwell.domain.cron.zone import UNNAMED, check_zone
from tickwell.domain.trigger.calendar_every import CalendarEvery
from tickwell.domain.trigger.cron import Cron
from tickwell.domain.trigger.rrule import RRule
from tickwell.domain.trigger.several import Several
from tickwell.domain.trigger.trigger import Trigger


def in_zone(trigger: Trigger, tz: str) -> Trigger:
    """The same trigger in this zone, as far as it, its members and its windows name none."""
    zone, changes = check_zone(tz), dict[str, Any]()
    if isinstance(trigger, Cron | CalendarEvery | RRule):
        if trigger.tz is UNNAMED:  # its windows and calendars follow it
            changes["tz"] = zone
    else:
        if any(each.tz is None for each in trigger.within):
            changes["within"] = tuple(replace(each, tz=each.tz or zone) for each in trigger.within)
        if any(each.tz is None and not each.is_shared for each in trigger.exclude):
            changes["exclude"] = tuple(
                each if each.tz or each.is_shared else replace(each, tz=zone)
                for each in trigger.exclude
            )
    if isinstance(trigger, Several):
        changes["members"] = tuple(in_zone(member, zone) for member in trigger.members)
    return replace(trigger, **changes) if changes else trigger
