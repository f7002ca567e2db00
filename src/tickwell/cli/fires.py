"""Fire times in a zone and in UTC."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from tickwell.cli.screen import Screen
from tickwell.cli.times import say_distance, say_time


def show_fires(screen: Screen, fires: Iterable[str], tz: str, now: int) -> None:
    """One line each; the zone's own time with its offset, so that a change of clocks is seen."""
    from zoneinfo import ZoneInfo

    from tickwell.domain.cron import check_zone

    zone = ZoneInfo(check_zone(tz))
    rows = []
    for fire in fires:
        local = datetime.fromisoformat(fire).astimezone(zone)
        here = f"{local:%a %Y-%m-%d %H:%M:%S %z}" if screen.is_terminal else local.isoformat()
        utc = say_time(fire) if screen.is_terminal else fire
        row = (utc, say_distance(fire, now)) if screen.is_terminal else (utc,)
        rows.append(row if tz == "UTC" else (here, *row))
    headings = ("UTC", "") if screen.is_terminal else ("UTC",)
    screen.table(headings if tz == "UTC" else (tz, *headings), rows, soft=())
