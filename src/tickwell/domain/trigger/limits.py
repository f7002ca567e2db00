"""What confines a trigger: start, until, windows, calendars."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from tickwell.domain.cron import Wall, first_at, wall
from tickwell.domain.cron.search import WallRule
from tickwell.domain.trigger.calendar import Calendar, OpenDays
from tickwell.domain.trigger.window import OpenHours, Window

Rule = Callable[[int], "int | None"]

#: So often a closed window or day is leapt over before a search ends, and so far: more than a
#: year of daily fires, all the weekdays of a 29 February, and still only milliseconds.
_LEAPS = 500
_FARTHEST = 100 * 31_557_600_000


class Limits:
    """The confines of one trigger, ready to be asked."""

    __slots__ = ("_calendars", "_windows", "start", "until")

    def __init__(
        self,
        start: int | None,
        until: int | None,
        within: Iterable[Window],
        exclude: Iterable[Calendar],
        tz: str,
    ) -> None:
        self.start = start
        self.until = until
        zones: defaultdict[str, list[Window]] = defaultdict(list)
        for window in within:
            zones[window.tz or tz].append(window)
        self._windows: list[tuple[WallRule, Wall]] = [
            (OpenHours(windows), wall(zone)) for zone, windows in zones.items()
        ]
        self._calendars: list[tuple[str, WallRule, Wall]] = [
            (f"calendar:{calendar.name}", OpenDays(calendar), wall(calendar.tz or tz))
            for calendar in exclude
        ]

    def first(self, nominal: Rule, instant: int) -> int | None:
        """The first fire time of a rule, strictly later, that nothing takes out."""
        if self.start is not None:
            instant = max(instant, self.start - 1)
        farthest = None
        for _ in range(_LEAPS):
            found = nominal(instant)
            if found is None or self.is_over(found):
                return None
            farthest = farthest or found + _FARTHEST
            if found > farthest:
                return None
            allowed = self.allowed(found)
            if allowed is None or allowed == found:
                return allowed
            instant = allowed - 1
        return None

    def is_over(self, instant: int) -> bool:
        """Whether the instant is later than `until`."""
        return self.until is not None and instant > self.until

    def allowed(self, instant: int) -> int | None:
        """The first instant, not before this one, that is in a window and in no calendar."""
        opened: int | None = instant
        for _ in range(_LEAPS):
            before = opened
            if opened is not None and self._windows:
                opens = [_open(rule, opened, zone) for rule, zone in self._windows]
                opened = min((each for each in opens if each is not None), default=None)
            for _, rule, zone in self._calendars:
                if opened is not None:
                    opened = _open(rule, opened, zone)
            if opened is None or opened == before:
                return opened
        return None

    def reason(self, instant: int) -> str | None:
        """What takes this instant out, or None."""
        if self._windows and all(_open(r, instant, z) != instant for r, z in self._windows):
            return "window"
        for name, rule, zone in self._calendars:
            if _open(rule, instant, zone) != instant:
                return name
        return None


def _open(rule: WallRule, instant: int, zone: Wall) -> int | None:
    second = instant // 1000
    found = first_at(rule, second, zone)
    if found is None:
        return None
    return instant if found == second else found * 1000
