"""A job's trigger as bodies and answers have it."""

from __future__ import annotations

from typing import Literal, TypeAlias

from tickwell.services.operations.schema import (
    Duration,
    Input,
    Instant,
    Json,
    field,
)


class Window(Input):
    """When a trigger may fire."""

    days: str = field("*", example="mon-fri")
    from_: str = field("00:00", alias="from", example="09:00")
    to: str = field("24:00", example="17:00")
    tz: str | None = None


class Range(Input):
    """Days from the first to the last."""

    from_: str = field(alias="from", example="2026-12-24")
    to: str = field(example="2027-01-02")


class Calendar(Input):
    """Days on which a trigger does not fire."""

    name: str = field(example="holidays")
    dates: list[str] = field([], example=["2026-12-25"])
    ranges: list[Range] = field([])
    tz: str | None = None
    version: int | None = field(
        None, ge=0, description="Of the project's calendar whose days these are; read-only."
    )


class BusinessDays(Input):
    """Where fires on weekends and holidays are moved to."""

    shift: Literal["next", "previous"] = "next"
    holidays: list[Calendar | str] | None = None
    weekend: str = field("sat,sun", example="fri,sat")


class Units(Input):
    """A calendar interval."""

    years: int = 0
    months: int = field(0, example=2)
    weeks: int = 0
    days: int = 0


class Common(Input):
    """What every trigger takes."""

    start: Instant | None = None
    until: Instant | None = None
    max_runs: int | None = field(None, ge=1)
    within: list[Window] | None = None
    exclude: list[Calendar | str] | None = None
    jitter: Duration | None = None


class Zoned(Common):
    """A trigger on wall time."""

    tz: str | None = field(None, example="Europe/Rome")
    dst_gap: Literal["shift", "skip"] | None = None
    dst_fold: Literal["first", "last", "both"] | None = None
    business_days: BusinessDays | None = None


class CronTrigger(Zoned):
    """By a cron expression: five fields, or six with seconds first."""

    cron: str = field(max_length=256, example="0 9 * * mon-fri")
    dialect: Literal["cron", "quartz", "aws", "celery"] | None = field(
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
    anchor: str = field(example="2026-01-31T09:00:00")


class OnceTrigger(Common):
    """Once."""

    once: Instant


class OnDemandTrigger(Common):
    """Only when somebody asks."""

    on_demand: Literal[True]


class UnionTrigger(Common):
    """Whenever one of several fires."""

    any_of: list[Trigger] = field(min_length=1)


class IntersectionTrigger(Common):
    """Whenever several fire at the same instant."""

    all_of: list[Trigger] = field(min_length=1)


class RRuleTrigger(Zoned):
    """By a recurrence rule of RFC 5545."""

    rrule: str = field(max_length=512, example="FREQ=MONTHLY;BYDAY=-1FR")
    dtstart: str = field(example="2026-01-30T09:00:00")
    exdates: list[str] | None = None
    rdates: list[str] | None = None


class PhraseTrigger(Zoned):
    """By a phrase in English, which is saved as the trigger that it stands for."""

    when: str = field(max_length=200, example="every weekday at 9 in Rome")


class Custom(Input):
    """A trigger that an application defines."""

    name: str = field(example="sunrise")
    args: dict[str, Json] | None = field(None, example={"latitude": 41.9})


class CustomTrigger(Common):
    """As an application's own class has it, which is known by a name."""

    custom: Custom


Trigger: TypeAlias = (
    CronTrigger
    | EveryTrigger
    | CalendarTrigger
    | OnceTrigger
    | OnDemandTrigger
    | UnionTrigger
    | IntersectionTrigger
    | CustomTrigger
    | PhraseTrigger
    | RRuleTrigger
)
