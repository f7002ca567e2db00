"""Triggers, as documents have them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tickwell.api.models.base import Duration, Instant, Shape


class Window(Shape):
    """When a trigger may fire."""

    days: str = Field(default="*", examples=["mon-fri"])
    from_: str = Field(default="00:00", alias="from", examples=["09:00"])
    to: str = Field(default="24:00", examples=["17:00"])
    tz: str | None = None


class Range(Shape):
    """Days from the first to the last."""

    from_: str = Field(alias="from", examples=["2026-12-24"])
    to: str = Field(examples=["2027-01-02"])


class Calendar(Shape):
    """Days on which a trigger does not fire."""

    name: str = Field(examples=["holidays"])
    dates: list[str] = Field(default_factory=list, examples=[["2026-12-25"]])
    ranges: list[Range] = Field(default_factory=list)
    tz: str | None = None


class Units(Shape):
    """A calendar interval."""

    years: int = 0
    months: int = Field(default=0, examples=[2])
    weeks: int = 0
    days: int = 0


class Common(Shape):
    """What every trigger takes."""

    start: Instant | None = None
    until: Instant | None = None
    max_runs: int | None = Field(default=None, ge=1)
    within: list[Window] | None = None
    exclude: list[Calendar] | None = None
    jitter: Duration | None = None


class Zoned(Common):
    """A trigger on wall time."""

    tz: str | None = Field(default=None, examples=["Europe/Rome"])
    dst_gap: Literal["shift", "skip"] | None = None
    dst_fold: Literal["first", "last", "both"] | None = None


class CronTrigger(Zoned):
    """By a cron expression: five fields, or six with seconds first."""

    cron: str = Field(max_length=256, examples=["0 9 * * mon-fri"])
    dialect: Literal["cron", "quartz", "aws", "celery"] | None = Field(
        default=None, description="Whose expression it is; aws is EventBridge."
    )


class EveryTrigger(Common):
    """In equal steps."""

    every: Duration
    phase: Duration | None = None
    after: Literal["fire", "finish"] | None = None


class CalendarTrigger(Zoned):
    """Every so many days, weeks, months or years at the same wall time."""

    calendar_every: Units
    anchor: str = Field(examples=["2026-01-31T09:00:00"])


class OnceTrigger(Common):
    """Once."""

    once: Instant


class OnDemandTrigger(Common):
    """Only when somebody asks."""

    on_demand: Literal[True]


class UnionTrigger(Common):
    """Whenever one of several fires."""

    any_of: list[Trigger] = Field(min_length=1)


Trigger = Annotated[
    CronTrigger | EveryTrigger | CalendarTrigger | OnceTrigger | OnDemandTrigger | UnionTrigger,
    Field(examples=[{"cron": "0 9 * * mon-fri", "tz": "Europe/Rome"}]),
]
UnionTrigger.model_rebuild()
