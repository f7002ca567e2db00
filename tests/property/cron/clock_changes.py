"""Every change of the clocks from 2024 to 2030 in zones that do it differently."""

from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

#: Whole hours, half an hour, two a year around Ramadan, negative in winter, at midnight, never.
ZONES = [
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Africa/Casablanca",
    "Europe/Dublin",
    "Africa/Cairo",
    "Asia/Kathmandu",
]
#: Samoa went over the date line: there was no 30 December 2011.
LOST_DAY = ("Pacific/Apia", datetime(2011, 12, 30, 10, tzinfo=UTC))


@cache
def clock_changes() -> list[tuple[str, datetime]]:
    found = [LOST_DAY]
    for name in ZONES:
        zone = ZoneInfo(name)
        moment = datetime(2024, 1, 1, tzinfo=UTC)
        while moment.year <= 2030:
            later = moment + timedelta(hours=12)
            if moment.astimezone(zone).utcoffset() != later.astimezone(zone).utcoffset():
                found.append((name, first_minute(zone, moment, later)))
            moment = later
    return found


def first_minute(zone: ZoneInfo, moment: datetime, later: datetime) -> datetime:
    offset = moment.astimezone(zone).utcoffset()
    while moment < later and moment.astimezone(zone).utcoffset() == offset:
        moment += timedelta(minutes=1)
    return moment
