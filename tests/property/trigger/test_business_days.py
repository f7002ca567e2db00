"""Fires moved to business days, against days that are looked at one by one."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from tickwell import BusinessDays, Calendar, Cron
from tickwell.clock import to_datetime, to_millis

BEGIN = date(2026, 11, 1)
DAYS = 120
NAMES = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
TIMES = {"0 9": [time(9)], "30 8,17": [time(8, 30), time(17, 30)], "0 0": [time(0)]}

calendars = st.builds(
    Calendar,
    st.just("holidays"),
    st.lists(st.dates(BEGIN, BEGIN + timedelta(days=DAYS)), max_size=20),
    ranges=st.lists(
        st.tuples(st.dates(BEGIN, BEGIN + timedelta(days=DAYS)), st.integers(0, 6)).map(
            lambda pair: (pair[0], pair[0] + timedelta(days=pair[1]))
        ),
        min_size=1,
        max_size=3,
    ),
)


def is_closed(day: date, weekend: set[int], holidays: Calendar) -> bool:
    dates = day in holidays.dates or any(a <= day <= b for a, b in holidays.ranges)
    return day.weekday() in weekend or dates


@given(
    times=st.sampled_from([*TIMES]),
    days=st.sampled_from(["*", "1,15", "L", "28-31"]),
    shift=st.sampled_from(["next", "previous"]),
    weekend=st.sets(st.integers(0, 6), max_size=3),
    holidays=calendars,
    zone=st.sampled_from(["UTC", "Europe/Rome", "America/New_York"]),
    at=st.integers(0, DAYS * 86_400),
)
def test_each_fire_is_on_the_nearest_business_day(
    *, times, days, shift, weekend, holidays, zone, at
):
    names = ",".join(NAMES[day] for day in weekend)
    moved = BusinessDays(shift, (holidays,), names)
    trigger = Cron(f"{times} {days} * *", zone, business_days=moved)
    begin = datetime(BEGIN.year, BEGIN.month, BEGIN.day, tzinfo=UTC) + timedelta(days=40)
    end = begin + timedelta(days=50)
    step = timedelta(days=1 if shift == "next" else -1)
    expected = set[int]()
    for fire in Cron(f"0 12 {days} * *").between(
        to_millis(begin - timedelta(days=35)), to_millis(end + timedelta(days=35))
    ):
        day = to_datetime(fire).date()
        while is_closed(day, weekend, holidays):
            day += step
        expected |= {
            to_millis(datetime.combine(day, each, ZoneInfo(zone))) for each in TIMES[times]
        }
    inside = sorted(each for each in expected if to_millis(begin) < each <= to_millis(end))
    assert [*trigger.between(to_millis(begin), to_millis(end))] == inside
    asked = to_millis(begin + timedelta(seconds=at % (40 * 86_400)))
    later = [each for each in inside if each > asked]
    if later:
        assert trigger.after(asked) == later[0]
