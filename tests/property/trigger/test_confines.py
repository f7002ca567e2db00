"""Windows, calendars, start and until against a filter that looks at every single fire."""

from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st

from tickwell.clock import to_datetime, to_millis
from tickwell.domain.trigger import Calendar, Cron, Every, Window
from tickwell.errors import InvalidTrigger

ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo"]
DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
RULES = ["*/20 * * * *", "0 * * * *", "30 */5 * * *", "15 2 * * *"]


def a_window(random: Random) -> Window:
    chosen = random.sample(DAYS, random.randint(1, 5))
    opens, closes = random.sample(range(0, 1441, 15), 2)
    opens = opens % 1440
    if opens == closes:
        closes = 1440 - opens or 720
    opens_at, closes_at = (f"{each // 60:02}:{each % 60:02}" for each in (opens, closes))
    return Window(",".join(chosen), opens_at, closes_at, random.choice(ZONES))


def a_calendar(random: Random, around: date) -> Calendar:
    days = [around + timedelta(days=random.randint(-5, 20)) for _ in range(random.randint(1, 6))]
    first = around + timedelta(days=random.randint(0, 10))
    ranges = [(first, first + timedelta(days=random.randint(0, 4)))]
    return Calendar(f"c{random.randint(0, 9)}", days, ranges=ranges, tz=random.choice(ZONES))


def is_open(window: Window, moment: datetime) -> bool:
    local = moment.astimezone(ZoneInfo(window.tz or "UTC"))
    opens, closes = (int(text[:2]) * 60 + int(text[3:]) for text in (window.opens, window.closes))
    minute = local.hour * 60 + local.minute
    weekday = DAYS[local.isoweekday() % 7]
    yesterday = DAYS[(local.isoweekday() - 1) % 7]
    days = window.days.split(",")
    if opens < closes:
        return weekday in days and opens <= minute < closes
    return (weekday in days and minute >= opens) or (yesterday in days and minute < closes)


def is_out(calendar: Calendar, moment: datetime) -> bool:
    day = moment.astimezone(ZoneInfo(calendar.tz or "UTC")).date()
    return day in calendar.dates or any(first <= day <= last for first, last in calendar.ranges)


@given(st.randoms(use_true_random=False), st.integers(1_700_000_000, 1_900_000_000))
@settings(max_examples=200)
def test_exactly_what_passes_every_confine_fires(random, second):
    begin = to_datetime(second * 1000)
    zone, expr = random.choice(ZONES), random.choice(RULES)
    confines: dict[str, Any] = {
        "within": tuple(a_window(random) for _ in range(random.randint(0, 3))),
        "exclude": tuple(a_calendar(random, begin.date()) for _ in range(random.randint(0, 2))),
        "start": begin + timedelta(hours=random.randint(-50, 50))
        if random.random() < 0.3
        else None,
        "until": begin + timedelta(hours=random.randint(60, 400))
        if random.random() < 0.3
        else None,
    }
    bare = Cron(expr, zone) if random.random() < 0.7 else Every("7m")
    try:
        trigger = (
            Cron(expr, zone, **confines) if isinstance(bare, Cron) else Every("7m", **confines)
        )
    except InvalidTrigger:
        return
    window, end = second * 1000, second * 1000 + 14 * 86_400_000
    fired, left_out = [], {}
    for instant in bare.between(window, end):
        moment = to_datetime(instant)
        if confines["start"] and moment < confines["start"]:
            continue
        if confines["until"] and moment > confines["until"]:
            continue
        if confines["within"] and not any(is_open(w, moment) for w in confines["within"]):
            left_out[instant] = "window"
        elif any(is_out(c, moment) for c in confines["exclude"]):
            left_out[instant] = "calendar"
        else:
            fired.append(instant)
    assert list(trigger.between(window, end)) == fired
    told = {instant: why.partition(":")[0] for instant, why in trigger.excluded(window, end)}
    assert told == left_out


def test_a_refused_trigger_would_really_not_fire():
    random = Random(5)
    for _ in range(200):
        window = a_window(random)
        try:
            Cron("15 2 * * mon", "Europe/Berlin", within=(window,))
        except InvalidTrigger:
            begin = to_millis(datetime(2024, 1, 1, tzinfo=UTC))
            fires = Cron("15 2 * * mon", "Europe/Berlin").between(begin, begin + 700 * 86_400_000)
            assert not any(is_open(window, to_datetime(instant)) for instant in fires)
