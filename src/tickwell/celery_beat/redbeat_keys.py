"""The entries that RedBeat keeps in Redis, read without RedBeat and without the app."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

from celery.schedules import crontab, schedule

from tickwell.celery_beat.entry import BeatEntry
from tickwell.errors import InvalidInput

PREFIX = "redbeat:"
_PARTS = ("task", "args", "kwargs", "options", "schedule", "enabled")


async def read_redbeat(url: str, *, prefix: str = PREFIX, tz: str = "UTC") -> list[BeatEntry]:
    """Every entry whose key has the prefix; RedBeat reads crontabs in the zone of its app."""
    try:
        import redis.asyncio as redis
    except ModuleNotFoundError as error:
        hint = "Install it: pip install 'tickwell[redis]'"
        raise InvalidInput(f"{error.name} is not installed", field="url", hint=hint) from error
    try:
        client = redis.Redis.from_url(url, decode_responses=True)
    except ValueError as error:
        hint = "For example redis://localhost:6379/1"
        raise InvalidInput(f"is not a Redis URL: {error}", field="url", hint=hint) from None
    try:
        found = await _definitions(client, prefix)
    except (redis.RedisError, OSError) as error:
        reason = f"the Redis does not answer as expected: {error}"
        raise InvalidInput(reason, field="url", hint="Check the URL and that it runs") from error
    finally:
        await client.aclose()
    if not found:
        raise InvalidInput(
            f"there are no RedBeat entries under {prefix!r}",
            field="url",
            hint="Name the database as redis://host/1, and a redbeat_key_prefix with --prefix",
        )
    return [_entry(key, texts, prefix, tz) for key, texts in sorted(found.items())]


async def _definitions(client: Any, prefix: str) -> dict[str, tuple[str, str | None]]:
    """By key. Lock, order and names of static entries have two colons, and are no hashes."""
    escaped = "".join(f"\\{each}" if each in "*?[]\\" else each for each in prefix)
    keys = [key async for key in client.scan_iter(match=f"{escaped}*", _type="hash")]
    found = {}
    for key in keys:
        definition, meta = await client.hmget(key, "definition", "meta")
        if definition is not None:
            found[key] = definition, meta
    return found


def _entry(key: str, texts: tuple[str, str | None], prefix: str, tz: str) -> BeatEntry:
    name = key.removeprefix(prefix)
    try:
        definition = json.loads(texts[0], object_hook=_decoded)
        meta = json.loads(texts[1] or "{}", object_hook=_decoded)
        values = {part: definition.get(part) for part in _PARTS}
        last_run = meta.get("last_run_at")
    except (ValueError, TypeError, AttributeError, KeyError, LookupError) as error:
        raise InvalidInput(
            f"the definition in {key!r} is not RedBeat's: {error}",
            field=name,
            hint="Save the entry again with RedBeat, or leave it: --skip",
        ) from None
    fields = {part: value for part, value in values.items() if value is not None}
    fields.setdefault("task", "")
    fields.setdefault("schedule", None)
    return BeatEntry(name=str(definition.get("name") or name), tz=tz, last_run=last_run, **fields)


def _decoded(value: dict[str, Any]) -> Any:
    """As RedBeat's own decoder; what it has besides stays a dictionary, which is refused."""
    kind = value.get("__type__")
    rest = {name: inner for name, inner in value.items() if name != "__type__"}
    if kind == "crontab":
        return crontab(**rest)
    if kind == "interval":
        return schedule(rest["every"], relative=rest["relative"])
    if kind == "datetime":
        zone = rest.pop("timezone", "UTC")
        by_offset = isinstance(zone, int | float)
        return datetime(
            **rest, tzinfo=timezone(timedelta(seconds=zone)) if by_offset else ZoneInfo(zone)
        )
    return value
