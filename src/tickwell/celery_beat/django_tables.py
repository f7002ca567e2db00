"""The tables of django-celery-beat, read without Django and without the app."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from celery.schedules import crontab, schedule, solar

from tickwell.celery_beat.entry import BeatEntry
from tickwell.celery_beat.rows import Row, read_rows
from tickwell.errors import InvalidInput

_TASKS = "django_celery_beat_periodictask"
_SCHEDULES = {
    "crontab": "django_celery_beat_crontabschedule",
    "interval": "django_celery_beat_intervalschedule",
    "clocked": "django_celery_beat_clockedschedule",
    "solar": "django_celery_beat_solarschedule",
}
_CRONTAB = ("minute", "hour", "day_of_week", "day_of_month", "month_of_year")
_OPTIONS = ("queue", "exchange", "routing_key", "priority")


async def read_django(url: str) -> list[BeatEntry]:
    """Every periodic task of the database, enabled or not."""
    found = await read_rows(url, [_TASKS, *_SCHEDULES.values()])
    schedules = {
        kind: {row["id"]: row for row in found[table]} for kind, table in _SCHEDULES.items()
    }
    rows = sorted(found[_TASKS], key=lambda row: str(row["name"]))
    if not rows:
        hint = "Name the database that Django's settings name"
        raise InvalidInput(f"{_TASKS} has no rows", field="url", hint=hint)
    return [_entry(row, schedules) for row in rows]


def _entry(row: Row, schedules: Mapping[str, Mapping[Any, Row]]) -> BeatEntry:
    name = str(row["name"])
    kinds = [kind for kind in _SCHEDULES if row.get(f"{kind}_id") is not None]
    if len(kinds) != 1:
        kinds_found = " and ".join(kinds) or "none"
        hint = "Give it one schedule in Django's admin"
        raise InvalidInput(f"has {len(kinds)} schedules: {kinds_found}", field=name, hint=hint)
    found = schedules[kinds[0]].get(row[f"{kinds[0]}_id"])
    if found is None:
        hint = "Give it one in Django's admin, or delete it there"
        raise InvalidInput(f"its {kinds[0]} is not in the database", field=name, hint=hint)
    entry = BeatEntry(
        name=name,
        task=row["task"],
        schedule=None,
        args=_json(row, "args", list),
        kwargs=_json(row, "kwargs", dict),
        options=_options(row),
        enabled=bool(row["enabled"]),
        one_off=bool(row.get("one_off")),
        start=_moment(row.get("start_time")),
        until=_moment(row.get("expires")),
        last_run=_moment(row.get("last_run_at")),
        description=row.get("description") or "",
    )
    return _scheduled(entry, kinds[0], found)


def _scheduled(entry: BeatEntry, kind: str, row: Row) -> BeatEntry:
    try:
        match kind:
            case "crontab":
                found = crontab(**{part: str(row[part]).replace(" ", "") for part in _CRONTAB})
                return replace(entry, schedule=found, tz=str(row.get("timezone") or "UTC"))
            case "interval":
                return replace(entry, schedule=schedule(timedelta(**{row["period"]: row["every"]})))
            case "clocked":
                return replace(entry, schedule=_moment(row["clocked_time"]))
            case _:
                # Made without its constructor, which needs a library that computes the sun.
                return replace(entry, schedule=solar.__new__(solar))
    except (ValueError, TypeError) as error:
        raise InvalidInput(str(error), field=f"{entry.name}: {kind}") from None


def _options(row: Row) -> dict[str, Any]:
    options = {name: row.get(name) for name in _OPTIONS if row.get(name) is not None}
    if row.get("expire_seconds"):
        options["expires"] = row["expire_seconds"]
    if headers := _json(row, "headers", dict):
        options["headers"] = headers
    return options


def _json(row: Row, name: str, kind: type) -> Any:
    try:
        value = json.loads(row.get(name) or "null")
    except ValueError as error:
        hint = "Correct it in Django's admin"
        raise InvalidInput(
            f"is not JSON: {error}", field=f"{row['name']}: {name}", hint=hint
        ) from None
    if value is None:
        return kind()
    if not isinstance(value, kind):
        wanted = "a list" if kind is list else "an object"
        raise InvalidInput(f"is not {wanted}", field=f"{row['name']}: {name}")
    return value


def _moment(value: Any) -> datetime | None:
    """Django writes UTC; PostgreSQL gives it back with its zone, the others without."""
    if value is None:
        return None
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
