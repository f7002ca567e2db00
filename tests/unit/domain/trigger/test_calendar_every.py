from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from tickwell.domain.trigger import CalendarEvery
from tickwell.errors import InvalidTrigger

ROME = ZoneInfo("Europe/Rome")


def first(trigger, count, start=datetime(2020, 1, 1, tzinfo=UTC)):
    found = []
    moment = start
    for _ in range(count):
        moment = trigger.next(moment)
        found.append(moment.astimezone(ZoneInfo(trigger.tz)).strftime("%Y-%m-%d %H:%M"))
    return found


def wall(text: str) -> datetime:
    return datetime.fromisoformat(text)


def test_every_two_months_at_the_same_wall_time():
    trigger = CalendarEvery(months=2, anchor=wall("2026-01-15T09:00"), tz="Europe/Rome")
    assert first(trigger, 4) == [
        "2026-01-15 09:00",
        "2026-03-15 09:00",
        "2026-05-15 09:00",
        "2026-07-15 09:00",
    ]
    assert trigger.next(datetime(2026, 3, 1, tzinfo=UTC)) == datetime(2026, 3, 15, 8, tzinfo=UTC)
    assert trigger.next(datetime(2026, 5, 1, tzinfo=UTC)) == datetime(2026, 5, 15, 7, tzinfo=UTC)


def test_the_31st_comes_back_after_a_shorter_month():
    trigger = CalendarEvery(months=1, anchor=wall("2026-01-31T00:00"))
    days = [text[5:10] for text in first(trigger, 5)]
    assert days == ["01-31", "02-28", "03-31", "04-30", "05-31"]


def test_29_february_every_year():
    trigger = CalendarEvery(years=1, anchor=wall("2024-02-29T12:00"))
    days = [text[:10] for text in first(trigger, 5)]
    assert days == ["2024-02-29", "2025-02-28", "2026-02-28", "2027-02-28", "2028-02-29"]


def test_days_keep_the_wall_time_through_clock_changes():
    trigger = CalendarEvery(days=1, anchor=wall("2026-03-28T02:30"), tz="Europe/Rome")
    assert first(trigger, 3) == ["2026-03-28 02:30", "2026-03-29 03:00", "2026-03-30 02:30"]
    skipping = CalendarEvery(
        days=1, anchor=wall("2026-03-28T02:30"), tz="Europe/Rome", dst_gap="skip"
    )
    assert first(skipping, 2) == ["2026-03-28 02:30", "2026-03-30 02:30"]
    twice = CalendarEvery(
        weeks=1, anchor=wall("2026-10-25T02:30"), tz="Europe/Rome", dst_fold="both"
    )
    assert first(twice, 3) == ["2026-10-25 02:30", "2026-10-25 02:30", "2026-11-01 02:30"]


def test_units_add_up():
    trigger = CalendarEvery(months=1, days=1, anchor=wall("2026-01-01T00:00"))
    assert [text[5:10] for text in first(trigger, 3)] == ["01-01", "02-02", "03-03"]


def test_an_aware_anchor_is_taken_to_the_zone():
    aware = datetime(2026, 1, 15, 8, tzinfo=UTC)
    naive = wall("2026-01-15T09:00")
    assert CalendarEvery(months=2, anchor=aware, tz="Europe/Rome") == CalendarEvery(
        months=2, anchor=naive, tz="Europe/Rome"
    )


def test_nothing_before_the_anchor_and_nothing_after_9999():
    trigger = CalendarEvery(years=100, anchor=wall("2026-01-01T00:00"))
    assert trigger.after(-(10**15)) == 1_767_225_600_000
    assert trigger.next(datetime(9927, 1, 1, tzinfo=UTC)) is None
    late = CalendarEvery(days=1, anchor=wall("9999-12-31T23:00"), tz="America/New_York")
    assert late.after(0) is None


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "calendar_every"),
        ({"months": -1}, "calendar_every.months"),
        ({"months": 1.5}, "calendar_every.months"),
        ({"months": True}, "calendar_every.months"),
        ({"years": 101}, "calendar_every.years"),
        ({"days": 1, "anchor": "2026-01-01"}, "anchor"),
        ({"days": 1, "anchor": datetime(2026, 1, 1, 0, 0, 0, 1, tzinfo=UTC)}, "anchor"),
        (
            {
                "days": 1,
                "anchor": datetime.max.replace(microsecond=0, tzinfo=UTC),
                "tz": "Asia/Tokyo",
            },
            "anchor",
        ),
        ({"days": 1, "tz": "Nowhere"}, "tz"),
        ({"days": 1, "dst_gap": "x"}, "dst_gap"),
    ],
)
def test_refused(given, field):
    with pytest.raises(InvalidTrigger) as caught:
        CalendarEvery(**({"anchor": wall("2026-01-01T00:00")} | given))
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("units", "words"),
    [
        ({"months": 2}, "every 2 months"),
        ({"weeks": 1}, "every week"),
        ({"years": 1, "days": 2}, "every 1 year 2 days"),
    ],
)
def test_explained(units, words):
    trigger = CalendarEvery(**units, anchor=wall("2026-01-31T09:00"), tz="Europe/Rome")
    assert trigger.explain() == f"{words} from 2026-01-31 at 09:00, Europe/Rome"


def test_far_ahead_the_answer_is_exact():
    trigger = CalendarEvery(months=1, anchor=wall("1970-01-31T00:00"))
    start = datetime(9000, 2, 1, tzinfo=UTC)
    assert trigger.next(start) == datetime(9000, 2, 28, tzinfo=UTC)
    assert trigger.next(start + timedelta(days=27)) == datetime(9000, 3, 31, tzinfo=UTC)
