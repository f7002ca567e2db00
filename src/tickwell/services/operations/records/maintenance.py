"""Shapes of maintenance windows."""

from __future__ import annotations

from typing import Literal

from tickwell.services.operations.records.trigger import Trigger
from tickwell.services.operations.schema import Duration, Input, Instant, Output, field


class MaintenanceWindow(Output):
    """Times at which jobs do not fire, and why."""

    name: str = field(example="database-move")
    scope: Literal["project", "platform"]
    status: Literal["on", "planned", "over"]
    start: Instant | None = field(description="Of the time that is on or next; null: it is over.")
    end: Instant | None = field(description="Of the same time; jobs fire again from then on.")
    schedule: str = field(example="every sunday at 02:00 (Europe/Rome), for 2h")
    trigger: Trigger
    length: Duration
    tags: list[str]
    queues: list[str]
    note: str
    by: str
    changed_at: Instant


class MaintenanceWindows(Output):
    """Windows that jobs of the project may be in: what is on first, then what is next."""

    items: list[MaintenanceWindow]


class MaintenanceToPut(Input):
    """One time, by `end` or `length`; or several, by `trigger` and `length`."""

    start: Instant | None = field(None, description="When it begins; now.")
    end: Instant | None = field(None, description="When jobs fire again.")
    trigger: Trigger | None = field(None, example={"cron": "0 2 * * sun", "tz": "Europe/Rome"})
    length: Duration | None = field(None, example="2h")
    tags: list[str] = field([], max_length=50, description="Jobs with one of these tags; none: all")
    queues: list[str] = field([], max_length=50, description="Jobs of these queues; none: all.")
    note: str = field("", max_length=1000, description="Reason, shown to people.")
