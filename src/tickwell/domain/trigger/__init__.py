"""Triggers: pure rules that say when a job fires next."""

from __future__ import annotations

from tickwell.domain.trigger.all_of import AllOf
from tickwell.domain.trigger.any_of import AnyOf
from tickwell.domain.trigger.business_days import BusinessDays
from tickwell.domain.trigger.calendar import Calendar
from tickwell.domain.trigger.calendar_every import CalendarEvery
from tickwell.domain.trigger.cron import Cron
from tickwell.domain.trigger.custom import CustomTrigger
from tickwell.domain.trigger.document import trigger_from_document, trigger_to_document
from tickwell.domain.trigger.duration import format_duration, parse_duration
from tickwell.domain.trigger.every import Every
from tickwell.domain.trigger.on_demand import OnDemand
from tickwell.domain.trigger.once import Once
from tickwell.domain.trigger.phrase import when
from tickwell.domain.trigger.rrule import RRule
from tickwell.domain.trigger.trigger import Trigger
from tickwell.domain.trigger.window import Window

__all__ = [
    "AllOf",
    "AnyOf",
    "BusinessDays",
    "Calendar",
    "CalendarEvery",
    "Cron",
    "CustomTrigger",
    "Every",
    "OnDemand",
    "Once",
    "RRule",
    "Trigger",
    "Window",
    "format_duration",
    "parse_duration",
    "trigger_from_document",
    "trigger_to_document",
    "when",
]
