"""A second opinion on cron that shares no code with the product: sets, dates and zoneinfo, slow."""

from calendar import monthrange
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

NAMES = {
    "sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6,
    "jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6,
    "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12,
}  # fmt: skip
BOUNDS = [(0, 59), (0, 59), (0, 23), (1, 31), (1, 12), (0, 7)]


class Oracle:
    def __init__(self, expr: str) -> None:
        fields = expr.lower().split()
        self.fixed = not any(field.startswith("*") for field in fields[: len(fields) - 3])
        fields = ["0", *fields] if len(fields) == 5 else fields
        self.texts = fields
        self.seconds, self.minutes, self.hours = (
            sorted(plain_values(fields[i], *BOUNDS[i])) for i in range(3)
        )
        self.months = plain_values(fields[4], *BOUNDS[4])
        self.either = fields[3][0] not in "*?" and fields[5][0] not in "*?"

    def day(self, day: date) -> bool:
        if day.month not in self.months:
            return False
        by_day = any(day_term(term, day) for term in self.texts[3].split(","))
        by_weekday = any(weekday_term(term, day) for term in self.texts[5].split(","))
        return (by_day or by_weekday) if self.either else (by_day and by_weekday)

    def walls(self, first: datetime, last: datetime) -> Iterator[datetime]:
        """All matching wall times from first to last, both naive."""
        day = first.date()
        while day <= last.date():
            if self.day(day):
                for hour in self.hours:
                    begin = datetime.combine(day, time(hour))
                    if begin > last or begin + timedelta(hours=1) <= first:
                        continue
                    for minute in self.minutes:
                        for second in self.seconds:
                            wall = begin + timedelta(minutes=minute, seconds=second)
                            if first <= wall <= last:
                                yield wall
            day += timedelta(days=1)

    def fires(
        self, zone: ZoneInfo, start: datetime, end: datetime, gap="shift", fold="first"
    ) -> list[datetime]:
        """All fire times later than start and not later than end."""
        # wider than the clocks are ever moved
        margin = timedelta(hours=30 if zone.key == "Pacific/Apia" else 2)
        first = (start - margin).astimezone(zone).replace(tzinfo=None)
        last = (end + margin).astimezone(zone).replace(tzinfo=None)
        found: set[datetime] = set()
        for wall in self.walls(first, last):
            real = instants(wall, zone)
            if self.fixed and not real and gap == "shift":
                real = [first_after_gap(wall, zone)]
            elif self.fixed and fold == "first":
                real = real[:1]
            elif self.fixed and fold == "last":
                real = real[-1:]
            found.update(real)
        return sorted(each for each in found if start < each <= end)


def instants(wall: datetime, zone: ZoneInfo) -> list[datetime]:
    """The instants at which a clock on the wall shows this: none, one or two."""
    found = set()
    for fold in (0, 1):
        moment = wall.replace(tzinfo=zone, fold=fold).astimezone(UTC)
        if moment.astimezone(zone).replace(tzinfo=None) == wall:
            found.add(moment)
    return sorted(found)


def first_after_gap(wall: datetime, zone: ZoneInfo) -> datetime:
    while not instants(wall, zone):
        wall += timedelta(minutes=1) - timedelta(seconds=wall.second)
    return instants(wall, zone)[0]


def plain_values(text: str, low: int, high: int) -> set[int]:
    values: set[int] = set()
    for term in text.split(","):
        body, _, step = term.partition("/")
        if body in ("*", "?"):
            values.update(range(low, high + 1, int(step or 1)))
        elif "-" in body:
            first, last = (number(part) for part in body.split("-"))
            values.update(range(first, last + 1, int(step or 1)))
        elif step:
            values.update(range(number(body), high + 1, int(step)))
        else:
            values.add(number(body))
    return values


def number(text: str) -> int:
    return NAMES[text] if text in NAMES else int(text)


def day_term(term: str, day: date) -> bool:
    last = monthrange(day.year, day.month)[1]
    if term == "lw":
        return day.day == max(d for d in range(1, last + 1) if day.replace(day=d).weekday() < 5)
    if term.startswith("l"):
        return day.day == last - int(term[2:] or 0)
    if term.endswith("w"):
        wanted = int(term[:-1])
        if wanted > last:
            return False
        near = [wanted + off for off in (0, -1, 1, -2, 2) if 1 <= wanted + off <= last]
        return day.day == next(d for d in near if day.replace(day=d).weekday() < 5)
    return day.day in plain_values(term, 1, 31)


def weekday_term(term: str, day: date) -> bool:
    weekday = day.isoweekday() % 7
    if term.endswith("l"):
        is_last = (day + timedelta(days=7)).month != day.month
        return weekday == number(term[:-1]) % 7 and is_last
    if "#" in term:
        which, nth = term.split("#")
        return weekday == number(which) % 7 and (day.day - 1) // 7 + 1 == int(nth)
    return weekday in {value % 7 for value in plain_values(term, 0, 7)}
