"""Schedules of Celery as triggers, and the fire times that Celery itself computes for them."""

from __future__ import annotations

import copy
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from celery.schedules import crontab, maybe_schedule, schedule, solar

from tickwell.celery_beat.entry import BeatEntry
from tickwell.clock import to_datetime, to_millis
from tickwell.domain.trigger import CalendarEvery, Cron, Every, Once, Trigger
from tickwell.errors import InvalidTrigger

#: As Celery rounds relative intervals: down to whole units of the largest that fits.
_UNITS = (timedelta(days=1), timedelta(hours=1), timedelta(minutes=1))
_MIDNIGHT = datetime(1970, 1, 1)  # noqa: DTZ001  # a wall time
_SUN = (
    "Use a crontab at a fixed time, or one every 10 minutes whose task checks the position of the"
    " sun. Or leave the entry with Celery's own beat: tickwell import … --skip NAME"
)
#: Checks that one fire time takes Celery at most: more is a schedule that is never due.
_MOST_CHECKS = 10_000


def trigger_of(entry: BeatEntry) -> Trigger:
    """The trigger that fires when beat would; `InvalidTrigger` for a schedule that none can be."""
    found = _schedule(entry)
    limits: dict[str, Any] = {
        "start": entry.start,
        "until": entry.until,
        "max_runs": 1 if entry.one_off else None,
    }
    if isinstance(found, datetime):
        return Once(found, **{**limits, "max_runs": None})
    if isinstance(found, solar):
        raise InvalidTrigger("solar schedules follow the sun", field="schedule", hint=_SUN)
    if getattr(found, "nowfun", None) is not None:
        raise InvalidTrigger(
            "the schedule has a clock of its own, nowfun",
            field="schedule",
            hint="Leave nowfun out, and set the zone with app.conf.timezone",
        )
    if _is_crontab(found):
        return Cron(_expression(found), _zone(found, entry), dialect="celery", **limits)
    if type(found) is schedule:
        return _interval(found, entry.tz, limits)
    raise _untranslatable(f"{type(found).__module__}.{type(found).__qualname__}")


def celery_fires(entry: BeatEntry, after: int, count: int) -> list[int]:
    """The next fire times as Celery's own schedule computes them, if beat starts at `after`.

    Beat asks a schedule whether it is due, sleeps as long as the schedule says, and asks again.
    """
    found, now = copy.copy(_schedule(entry)), to_datetime(after)
    if isinstance(found, datetime):
        return [to_millis(found)] if found > now else []
    zone = ZoneInfo(_zone(found, entry))
    # As the app's clock has it; added up in UTC, where an hour is an hour.
    found.nowfun, found.tz = lambda: now.astimezone(zone), zone
    last = (entry.last_run or now).astimezone(zone)
    if entry.start is not None and entry.start > now:
        now = entry.start  # an interval is due at once then, a crontab when it matches
        last = (now - getattr(found, "run_every", timedelta(microseconds=1))).astimezone(zone)
    fires, checks = list[int](), 0
    while len(fires) < (1 if entry.one_off else count) and checks < _MOST_CHECKS:
        due, rest = found.is_due(last)
        checks += 1
        if not due:
            now += timedelta(seconds=rest)
        elif entry.until is not None and now >= entry.until:
            break
        else:
            fires.append(to_millis(now))
            last, checks = now.astimezone(zone), 0
    return fires


def _schedule(entry: BeatEntry) -> Any:
    """The schedule object that Celery makes of the entry; a datetime stays one."""
    raw = entry.schedule
    if isinstance(raw, datetime):
        return raw if raw.tzinfo is not None else raw.replace(tzinfo=UTC)
    if hasattr(raw, "is_due"):
        return raw
    if isinstance(raw, int | float | timedelta) and not isinstance(raw, bool):
        return maybe_schedule(raw, entry.relative)
    if isinstance(raw, dict):  # of RedBeat, which has kinds of its own
        raise _untranslatable(str(raw.get("__type__", "this schedule")))
    raise InvalidTrigger(
        f"{raw!r} is not a schedule",
        field="schedule",
        hint="For example crontab(hour=9), or a number of seconds",
    )


def _untranslatable(kind: str) -> InvalidTrigger:
    return InvalidTrigger(
        f"{kind} cannot be translated",
        field="schedule",
        hint="Use a crontab or an interval. Or leave the entry with Celery's own beat:"
        " tickwell import … --skip NAME",
    )


def _is_crontab(found: Any) -> bool:
    """A subclass may compute anything; the one of django-celery-beat only adds its zone."""
    kind = type(found)
    return kind is crontab or kind.__qualname__ == "TzAwareCrontab"


def _zone(found: Any, entry: BeatEntry) -> str:
    own = vars(found).get("tz") if type(found).__qualname__ == "TzAwareCrontab" else None
    return str(own or entry.tz)


def _expression(found: Any) -> str:
    parts = ("minute", "hour", "day_of_month", "month_of_year", "day_of_week")
    return " ".join(_field(getattr(found, f"_orig_{part}")) for part in parts)


def _field(raw: Any) -> str:
    if isinstance(raw, str):
        return raw.replace(" ", "")
    return ",".join(map(str, sorted(raw))) if hasattr(raw, "__iter__") else str(raw)


def _interval(found: Any, tz: str, limits: dict[str, Any]) -> Trigger:
    period = found.run_every
    if not found.relative:
        return Every(period, **limits)
    unit = next((each for each in _UNITS if period >= each), None)
    if unit is None:
        return Every(period, **limits)
    amount = period // unit
    if unit == _UNITS[0]:
        return CalendarEvery(days=amount, anchor=_MIDNIGHT, tz=tz, **limits)
    return Every(amount * unit, **limits)
