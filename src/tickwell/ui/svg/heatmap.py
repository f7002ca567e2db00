"""A calendar: a row for each day, a field for each hour, darker where more starts."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from markupsafe import Markup, escape

from tickwell.domain.policy import HOUR
from tickwell.services.insights.density import Density
from tickwell.ui.formatting import local
from tickwell.ui.svg.axis import Frame

LEFT, TOP, ROW, FIELD = 128, 22, 26, 33
WIDTH = LEFT + 24 * FIELD - 3
#: From how far between the emptiest hour and the fullest a field gets which shade.
_SHADES = (0.0, 0.1, 0.3, 0.55, 0.8)
_SATURDAY = 5
#: What is said of an hour by how often a clock shows it.
_OFTEN = (", left out", "", ", twice")


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """A day of the calendar, and what the clock does in it."""

    day: date
    #: "-1 h", or empty.
    change: str


def days_of(first: date, count: int, zone: ZoneInfo) -> list[Day]:
    """Days from the first, with the changes of the clock among them."""
    return [
        Day(day=day, change=_change(day, zone))
        for day in (first + timedelta(days=n) for n in range(count))
    ]


def heat_chart(days: list[Day], found: Density, now: int, zone: ZoneInfo) -> Markup:
    """The heatmap; the tooltip of each cell names its hour and its count."""
    counts = sorted(found.hours.values()) or [0]
    most, least = counts[-1], counts[len(counts) // 20]  # an hour that was cut short is no measure
    height = TOP + ROW * len(days) + 4
    hours = "".join(
        f'<text x="{LEFT + hour * FIELD + 2}" y="14">{hour:02}</text>' for hour in range(0, 24, 2)
    )
    tops = range(TOP, TOP + ROW * len(days), ROW)
    names = "".join(
        _name(day, y, local(now, zone).date()) for day, y in zip(days, tops, strict=True)
    )
    rows = "".join(
        _row(day, y, found, (least, most), (now, zone)) for day, y in zip(days, tops, strict=True)
    )
    label = f"Starts by day and hour, at most {most:,} in one hour"
    frame = Frame(kind="days", left=LEFT, width=WIDTH, top=0, height=height)
    return frame.around(names, hours + rows, f'role="img" aria-label="{label}"')


def _name(day: Day, y: int, today: date) -> str:
    """Today and the ends of weeks look it; a change of the clock stands beside its day."""
    look = " today" if day.day == today else " off" if day.day.weekday() >= _SATURDAY else ""
    change = f'<tspan class="change" dx="5">{escape(day.change)}</tspan>' if day.change else ""
    text = escape(f"{day.day:%a %d %b}")
    return f'<text class="lane-name{look}" x="0" y="{y + 17}">{text}{change}</text>'


def _row(
    day: Day, y: int, found: Density, ends: tuple[int, int], clock: tuple[int, ZoneInfo]
) -> str:
    now, zone = clock
    name, parts = f"{day.day:%a %d %b}", []
    for hour in range(24):
        begins = _begins(day, hour, zone)
        count = sum([found.hours.get(begin // HOUR * HOUR, 0) for begin in begins])
        skipped = sum([found.skipped.get(begin // HOUR * HOUR, 0) for begin in begins])
        words = f"{name}, {hour:02}:00{_OFTEN[len(begins)]}: {count:,}"
        words += f", {skipped:,} skipped" if skipped else ""
        x = LEFT + hour * FIELD
        is_now = any(begin <= now < begin + HOUR for begin in begins)
        parts.append(
            f'<g><title>{words}</title><rect class="heat-{_shade(count, *ends)}'
            f'{" heat-now" if is_now else ""}" x="{x}" y="{y + 2}" width="{FIELD - 3}" '
            f'height="{ROW - 4}" rx="3"{" data-now" if is_now else ""}/></g>'
        )
    return "".join(parts)


def _begins(day: Day, hour: int, zone: ZoneInfo) -> list[int]:
    """When the clock shows the hour: never where it is left out, twice where it is repeated."""
    if not day.change:
        wall = datetime(day.day.year, day.day.month, day.day.day, hour, tzinfo=zone)
        return [int(wall.timestamp() * 1000)]
    walls = (datetime.combine(day.day, time(hour, fold=fold), zone) for fold in (0, 1))
    begins = sorted({int(wall.timestamp() * 1000) for wall in walls})
    return [begin for begin in begins if local(begin, zone).hour == hour]


def _shade(count: int, least: int, most: int) -> int:
    if not count:
        return 0
    return bisect_right(_SHADES, max(count - least, 0) / max(most - least, 1))


def _change(day: date, zone: ZoneInfo) -> str:
    begin = datetime(day.year, day.month, day.day, tzinfo=zone)
    end = begin + timedelta(days=1)
    moved = (end.utcoffset() or timedelta()) - (begin.utcoffset() or timedelta())
    if not moved:
        return ""
    return f"{'+' if moved > timedelta() else '-'}{abs(moved).total_seconds() / 3600:g} h"
