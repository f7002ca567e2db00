"""Shapes of monitors."""

from __future__ import annotations

from typing import Literal

from tickwell.services.operations.records.trigger import Trigger
from tickwell.services.operations.schema import Duration, Input, Instant, Output, field


class Monitor(Output):
    """A job that others run: when it checks in, and how it is."""

    id: str
    name: str = field(example="backup")
    status: Literal["new", "up", "started", "late", "down", "paused"]
    schedule: str = field(example="every day at 03:00 (UTC)")
    trigger: Trigger
    grace: Duration = field(example="1h")
    next_due: Instant | None
    last_check_in: Instant | None
    last_text: str | None = field(description="Why it is down; None: it is not.")
    last_log: str | None = field(description="What the last ping of /log sent.")
    description: str
    tags: list[str]


class MonitorPage(Output):
    """Monitors by name."""

    items: list[Monitor]
    next_cursor: str | None


class NewMonitor(Monitor):
    """A monitor with its ping URL, which is shown this once."""

    ping_url: str = field(example="https://jobs.example.com/ping/0f3c…")


class MonitorToMake(Input):
    """A monitor to be made: by `trigger`, or by `every`, which counts from the last check-in."""

    name: str = field(min_length=1, max_length=255, example="backup")
    trigger: Trigger | None = field(None, example={"cron": "0 3 * * *"})
    every: Duration | None = field(None, example="1d")
    grace: Duration | None = field(
        None, example="30m", description="Time after which a check-in is missed; 1h."
    )
    description: str = field("", max_length=10_000)
    tags: list[str] = field([], max_length=50)


class MonitorQuery(Input):
    """A page of monitors."""

    cursor: str | None = field(None, max_length=1000)
    limit: int = field(100, ge=1, le=200)


class PingKey(Output):
    """The ping key of a project, which is shown this once."""

    ping_key: str
    ping_url: str = field(example="https://jobs.example.com/ping/fqOOd6-F4MMNuCEnzTU01w/NAME")
