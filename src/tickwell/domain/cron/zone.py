"""Time zones: found by name, and the instants at which their offset changes."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo, available_timezones

from tickwell.errors import InvalidTrigger

#: 3 January of the year 1 and 29 December 9999, so that no offset leaves what datetime can hold.
FIRST_SECOND = -62_135_596_800 + 2 * 86_400
LAST_SECOND = 253_402_300_799
_LAST_KNOWN = LAST_SECOND - 2 * 86_400

#: The shortest time that any zone keeps an offset before going back to the one it had is a week
#: less an hour (Recife in 2000, Gaza in 2040), so no pair of changes hides between two probes.
_STRIDE = 6 * 86_400

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAME = re.compile(r"[A-Za-z0-9_+\-]+(?:/[A-Za-z0-9_+\-]+){0,2}")
#: These mean another zone on another host, or count leap seconds.
_UNSTABLE = ("localtime", "posix/", "right/", "posixrules", "Factory")


class Change(NamedTuple):
    """From this instant on, another offset."""

    instant: int
    before: int
    after: int


class _Unnamed(str):
    """A zone that nobody named."""

    __slots__ = ()


#: The zone of a trigger that names none: equal to "UTC" in every way, told from it by `is` alone.
UNNAMED: str = _Unnamed("UTC")


def check_zone(name: object, field: str = "tz") -> str:
    """The name of a zone, if there is such a one; a ZoneInfo has its name, as has UTC."""
    if isinstance(name, tzinfo):
        name = "UTC" if name is UTC else getattr(name, "key", None)
    if not isinstance(name, str):
        reason, hint = "a time zone is given by name", "For example: Europe/Rome"
        raise InvalidTrigger(reason, field=field, hint=hint)
    # by length first, so that no long name is kept in the cache
    if len(name) > 64 or not _exists(name):
        shown = name if len(name) <= 64 else f"{name[:64]}…"
        raise InvalidTrigger(f"no time zone {shown!r}", field=field, hint=_suggest(name))
    return name


@lru_cache(maxsize=1024)
def _exists(name: str) -> bool:
    if not _NAME.fullmatch(name) or name.startswith(_UNSTABLE):
        return False
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # a folder, as in "Europe", is an OSError
        return False
    return True


def find_zone(name: str) -> str | None:
    """The zone of this name, or the one that is named after this city, in any spelling."""
    if len(name) <= 64 and _exists(name):
        return name
    return _spellings().get(name[:65].lower().replace(" ", "_"))


def _suggest(name: str) -> str:
    known = _spellings().get(name[:64].lower().replace(" ", "_"))
    return f"Did you mean {known}?" if known else "For example: Europe/Rome"


@lru_cache(maxsize=1)
def _spellings() -> dict[str, str]:
    zones = sorted(zone for zone in available_timezones() if not zone.startswith(_UNSTABLE))
    cities = {zone.rpartition("/")[2].lower(): zone for zone in reversed(zones)}
    return cities | {zone.lower(): zone for zone in zones}


def changes(name: str, low: int, high: int) -> list[Change]:
    """All changes of the offset in (low, high], found by probing: zoneinfo does not list them."""
    zone = ZoneInfo(name)
    found = []
    left, before = low, offset_at(zone, low)
    while left < high:
        right = min(left + _STRIDE, high)
        last = offset_at(zone, right)
        while before != last:
            left = _first_other(zone, left, right, before)
            after = offset_at(zone, left)
            found.append(Change(left, before, after))
            before = after
        left = right
    return found


def offset_at(zone: ZoneInfo, second: int) -> int:
    """Seconds east of UTC at an instant."""
    moment = _EPOCH + timedelta(0, min(max(second, FIRST_SECOND), _LAST_KNOWN))
    offset = moment.astimezone(zone).utcoffset() or timedelta()
    return offset.days * 86_400 + offset.seconds


def _first_other(zone: ZoneInfo, left: int, right: int, before: int) -> int:
    while right - left > 1:
        middle = (left + right) // 2
        if offset_at(zone, middle) == before:
            left = middle
        else:
            right = middle
    return right
