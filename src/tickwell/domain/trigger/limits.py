"""What confines a trigger: start, until, windows, calendars."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from tickwell.domain.cron import Wall, first_at, wall
from tickwell.domain.cron.search import WallRule
from tickwell.domain.trigger.calendar import Calendar, OpenDays
from tickwell.domain.trigger.leaps import FARTHEST, Rule
from tickwell.domain.trigger.window import OpenHours, Window
from tickwell.domain.trigger.work import Work

#: So often a closed window or day is leapt over before a search ends: more than a year of daily
#: fires, all the weekdays of a 29 February, and still only milliseconds. A union counts the work
#: of all its members instead.
_LEAPS = 500


class Limits:
    """The confines of one trigger, ready to be asked."""

    __slots__ = ("_calendars", "_closed", "_windows", "cost", "start", "until", "zones")

    def __init__(
        self,
        start: int | None,
        until: int | None,
        within: Iterable[Window],
        exclude: Iterable[Calendar],
        tz: str,
        *,
        toil: int = 1,
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
            (f"calendar:{calendar.name}", OpenDays([calendar]), wall(calendar.tz or tz))
            for calendar in exclude
        ]
        days: defaultdict[str, list[Calendar]] = defaultdict(list)
        for calendar in exclude:
            days[calendar.tz or tz].append(calendar)
        # together: two calendars that close every other day would be leapt over day by day
        self._closed: list[tuple[WallRule, Wall]] = [
            (OpenDays(calendars), wall(zone)) for zone, calendars in days.items()
        ]
        #: What a look for a fire costs, toil of the rule and all, and the zones in which it is.
        self.cost = toil + (len(self._windows) + len(self._closed)) // 2
        self.zones = tuple(wall(zone) for zone in {tz, *zones, *days} if zone != "UTC")

    def first(self, nominal: Rule, instant: int, work: Work) -> int | None:
        """The first fire time of a rule, strictly later, that nothing takes out."""
        instant = self.begin(instant)
        farthest = None
        for _ in range(_LEAPS):
            found = nominal(instant)
            if found is None or self.is_over(found):
                return None
            farthest = farthest or found + FARTHEST
            if found > farthest:
                return None
            work.leap(self.cost, self.zones, instant, found)
            allowed = self.allowed(found, work)
            if allowed is None or allowed == found:
                return allowed
            instant = work.reached = allowed - 1
        return None

    def begin(self, instant: int) -> int:
        """The instant, or the last one before `start`."""
        return instant if self.start is None else max(instant, self.start - 1)

    def is_over(self, instant: int) -> bool:
        """Whether the instant is later than `until`."""
        return self.until is not None and instant > self.until

    def allowed(self, instant: int, work: Work) -> int | None:
        """The first instant, not before this one, that is in a window and in no calendar."""
        windows, closed = self._windows, self._closed
        if len(windows) + len(closed) == 1:
            return _open(*(windows or closed)[0], instant)
        opened: int | None = instant
        for _ in range(_LEAPS):
            before = opened
            if opened is not None and windows:
                opens = [_open(rule, zone, opened) for rule, zone in windows]
                opened = min((each for each in opens if each is not None), default=None)
            for rule, zone in closed:
                if opened is not None:
                    opened = _open(rule, zone, opened)
            if opened is None or opened == before:
                return opened
            work.spend(self.cost)
        return None

    def reason(self, instant: int) -> str | None:
        """What takes this instant out, or None."""
        if self._windows and all(_open(r, z, instant) != instant for r, z in self._windows):
            return "window"
        for name, rule, zone in self._calendars:
            if _open(rule, zone, instant) != instant:
                return name
        return None


def _open(rule: WallRule, zone: Wall, instant: int) -> int | None:
    second = instant // 1000
    found = first_at(rule, second, zone)
    if found is None:
        return None
    return instant if found == second else found * 1000
