"""Windows and calendars take fire times out, and say so."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from tickwell.clock import NEVER, to_datetime, to_millis
from tickwell.domain.trigger import Calendar, Cron, Every, Once, Window
from tickwell.errors import InvalidTrigger

OFFICE = Window("mon-fri", "09:00", "17:00", tz="Europe/Rome")
#: A Monday.
MONDAY = datetime(2026, 1, 5, tzinfo=UTC)


def hours(trigger, start=MONDAY, days=1) -> list[float]:
    begin = to_millis(start)
    return [
        (instant - begin) / 3_600_000
        for instant in trigger.between(begin - 1, begin + days * 86_400_000 - 1)
    ]


def test_open_from_the_first_minute_until_before_the_last():
    assert hours(Every("30m", within=(OFFICE,))) == [8 + n / 2 for n in range(16)]


def test_closed_on_other_days():
    saturday = MONDAY + timedelta(days=5)
    assert hours(Every("1h", within=(OFFICE,)), saturday, 2) == []
    assert Every("1h", within=(OFFICE,)).next(saturday) == MONDAY + timedelta(days=7, hours=8)


def test_across_midnight_it_belongs_to_the_day_it_opens_on():
    night = Window("fri", "22:00", "02:00")
    friday = MONDAY + timedelta(days=4)
    assert hours(Every("1h", within=(night,)), friday, 2) == [22, 23, 24, 25]
    assert hours(Every("1h", within=(night,)), MONDAY, 4) == []


def test_across_the_end_of_the_week():
    trigger = Every("1h", within=(Window("sat", "23:00", "01:00"),))
    assert hours(trigger, MONDAY + timedelta(days=5), 2) == [23, 24]


def test_several_windows_are_any_of_them():
    trigger = Every("1h", within=(Window("mon", "09:00", "11:00"), Window("mon", "10:00", "12:00")))
    assert hours(trigger) == [9, 10, 11]
    trigger = Every(
        "1h", within=(Window("mon", "09:00", "10:00"), Window("mon", "9:00", "10:00", "Asia/Tokyo"))
    )
    assert hours(trigger) == [0, 9]


def test_without_a_zone_it_takes_that_of_the_trigger():
    window = Window("*", "09:00", "10:00")
    assert hours(Cron("*/30 * * * *", "Europe/Rome", within=(window,))) == [8, 8.5]
    assert hours(Every("30m", within=(window,))) == [9, 9.5]


def test_the_end_of_the_day():
    assert hours(Every("6h", within=(Window("mon", "12:00", "24:00"),))) == [12, 18]
    assert len(hours(Every("1h", within=(Window(),)), days=7)) == 168


def test_through_clock_changes_the_wall_decides():
    trigger = Every("30m", within=(Window("*", "02:00", "03:00", "Europe/Berlin"),))
    assert hours(trigger, datetime(2026, 3, 29, tzinfo=UTC)) == []
    assert hours(trigger, datetime(2026, 10, 25, tzinfo=UTC)) == [0, 0.5, 1, 1.5]


def test_what_is_taken_out_is_named():
    trigger = Cron(
        "0 */8 * * *",
        within=(Window("mon-sat"),),
        exclude=(
            Calendar("holidays", ["2026-01-06"]),
            Calendar("freeze", ["2026-01-06", "2026-01-07"]),
        ),
    )
    begin = to_millis(MONDAY)
    left_out = list(trigger.excluded(begin, begin + 7 * 86_400_000))
    reasons = [(to_datetime(instant).strftime("%d %H"), why) for instant, why in left_out]
    assert reasons == [
        ("06 00", "calendar:holidays"),
        ("06 08", "calendar:holidays"),
        ("06 16", "calendar:holidays"),
        ("07 00", "calendar:freeze"),
        ("07 08", "calendar:freeze"),
        ("07 16", "calendar:freeze"),
        ("11 00", "window"),
        ("11 08", "window"),
        ("11 16", "window"),
    ]
    fired = list(trigger.between(begin, begin + 7 * 86_400_000))
    assert len(fired) + len(left_out) == 21


def test_nothing_is_named_outside_start_and_until():
    trigger = Every(
        "1d",
        within=(Window("mon"),),
        start=MONDAY + timedelta(days=2),
        until=MONDAY + timedelta(days=9),
    )
    assert len(list(trigger.excluded(0, NEVER))) == 7
    assert list(Every("1d", until=MONDAY).excluded(0, NEVER)) == []


def test_days_are_left_out_in_their_zone():
    days = Calendar("new year", [date(2026, 1, 1)], tz="Asia/Tokyo")
    trigger = Every("1h", exclude=(days,))
    noon = datetime(2025, 12, 31, 12, tzinfo=UTC)
    assert trigger.next(noon + timedelta(hours=2)) == datetime(2026, 1, 1, 15, tzinfo=UTC)
    assert hours(trigger, noon, 1) == [0, 1, 2]


def test_ranges_include_both_ends():
    days = Calendar(
        "freeze", ranges=[("2026-01-06", "2026-01-08"), (date(2026, 1, 8), date(2026, 1, 9))]
    )
    assert hours(Every("1d", exclude=(days,)), days=7) == [0, 120, 144]


def test_a_calendar_is_the_same_in_any_order():
    one = Calendar("x", ["2026-02-01", "2026-01-01", "2026-01-01"])
    assert one == Calendar("x", [date(2026, 1, 1), date(2026, 2, 1)])
    assert hash(one) == hash(Calendar("x", ["2026-01-01", "2026-02-01"]))


@pytest.mark.parametrize(
    ("given", "field"),
    [
        (("someday",), "within.days"),
        (("5L",), "within.days"),
        (("",), "within.days"),
        (("mon," * 30,), "within.days"),
        ((5,), "within.days"),
        (("mon", "9"), "within.from"),
        (("mon", "24:00", "12:00"), "within.from"),
        (("mon", "09:00", "24:01"), "within.to"),
        (("mon", "09:00", "10:60"), "within.to"),
        (("mon", "09:00", "09:00"), "within.to"),
        (("mon", "09:00", None), "within.to"),
        (("mon", "09:00", "10:00", "Mars/Olympus"), "within.tz"),
    ],
)
def test_a_window_that_makes_no_sense_is_refused(given, field):
    with pytest.raises(InvalidTrigger) as caught:
        Window(*given)
    assert caught.value.field == field
    assert caught.value.hint


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"name": "", "dates": ["2026-01-01"]}, "exclude.name"),
        ({"name": "a\nb", "dates": ["2026-01-01"]}, "exclude.name"),
        ({"name": "x"}, "exclude.dates"),
        ({"name": "x", "dates": ["2026-02-30"]}, "exclude.dates"),
        ({"name": "x", "dates": ["20260101"]}, "exclude.dates"),
        ({"name": "x", "dates": [MONDAY]}, "exclude.dates"),
        ({"name": "x", "ranges": [("2026-02-02", "2026-02-01")]}, "exclude.ranges"),
        ({"name": "x", "dates": ["2026-01-01"], "tz": "Nowhere"}, "exclude.tz"),
    ],
)
def test_a_calendar_that_makes_no_sense_is_refused(given, field):
    with pytest.raises(InvalidTrigger) as caught:
        Calendar(**given)
    assert caught.value.field == field


@pytest.mark.parametrize(
    "make",
    [
        lambda: Cron("0 3 * * *", within=(OFFICE,)),
        lambda: Cron("0 9 * * sun", "Europe/Rome", within=(OFFICE,)),
        lambda: Every("1d", within=(Window("*", "01:00", "02:00"),)),
        lambda: Once(MONDAY, within=(OFFICE,)),
        lambda: Once(MONDAY, exclude=(Calendar("x", ["2026-01-05"]),)),
        lambda: Once(MONDAY, until=MONDAY - timedelta(days=1)),
        lambda: Cron("0 0 29 2 *", start=MONDAY, until=MONDAY + timedelta(days=30)),
    ],
)
def test_what_would_never_fire_is_refused(make):
    with pytest.raises(InvalidTrigger, match="never fires"):
        make()


def test_a_window_that_opens_once_in_decades_is_found():
    trigger = Cron("0 0 29 2 *", within=(Window("mon"),))
    assert trigger.next(datetime(2025, 1, 1, tzinfo=UTC)) == datetime(2044, 2, 29, tzinfo=UTC)
    rare = Every("7h13m", within=(Window("sun", "03:00", "03:01"),))
    found = rare.next(MONDAY)
    assert found is not None
    assert found.strftime("%a %H:%M") == "Sun 03:00"


def test_every_second_is_not_counted_through_a_closed_year():
    days = Calendar("closed", ranges=[("2026-01-01", "2027-12-31")])
    trigger = Cron("* * * * * *", "Europe/Rome", exclude=(days,))
    expected = datetime(2028, 1, 1, tzinfo=ZoneInfo("Europe/Rome"))
    assert trigger.next(MONDAY) == expected


def test_explained():
    trigger = Cron("*/5 * * * *", within=(OFFICE,), exclude=(Calendar("holidays", ["2026-01-01"]),))
    assert trigger.explain() == (
        "every 5 minutes, UTC; only Monday to Friday 09:00 to 17:00 Europe/Rome;"
        " not on the dates of holidays"
    )
