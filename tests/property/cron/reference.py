"""cronsim, with its known trap stepped around."""

from collections.abc import Iterator
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from cronsim import CronSim


def reference_fires(expr: str, zone: ZoneInfo, start: datetime, end: datetime) -> list[datetime]:
    """What cronsim fires later than start and not later than end.

    Asked from inside a repeated hour it may answer with an instant that is past: asked on.
    """
    found = []
    for moment in reference_iter(expr, zone, start):
        if moment > end:
            break
        if moment > start:
            found.append(moment)
    return found


def reference_iter(expr: str, zone: ZoneInfo, start: datetime) -> Iterator[datetime]:
    local = start.astimezone(UTC if zone.key == "UTC" else zone)
    return (moment.astimezone(UTC) for moment in CronSim(expr, local))


def reference_next(expr: str, zone: ZoneInfo, start: datetime) -> datetime | None:
    """The first that is later than start; None where cronsim gives up."""
    return next((each for each in reference_iter(expr, zone, start) if each > start), None)
