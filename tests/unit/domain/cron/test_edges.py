"""The ends of the calendar."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from tickwell.clock import NEVER, to_millis
from tickwell.domain.trigger import Cron
from tickwell.errors import InvalidTrigger

NAIVE = datetime(2026, 1, 1)  # noqa: DTZ001
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Pacific/Kiritimati", "Asia/Kathmandu"]


def test_29_february_after_2096_is_in_2104():
    found = Cron("0 0 29 2 *").next(datetime(2096, 3, 1, tzinfo=UTC))
    assert found == datetime(2104, 2, 29, tzinfo=UTC)


def test_forty_years_between_two_fires():
    trigger = Cron("0 0 29 2 */7", "Europe/Berlin")
    found = trigger.next(datetime(2088, 3, 1, tzinfo=UTC))
    assert found == datetime(2128, 2, 28, 23, tzinfo=UTC)


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize(
    "expr", ["* * * * * *", "* * * * *", "0 0 * * *", "0 0 29 2 *", "0 0 L 12 *"]
)
def test_after_the_last_day_there_is_nothing(expr, zone):
    trigger = Cron(expr, zone)
    assert trigger.after(NEVER) is None
    assert trigger.after(NEVER + 10**18) is None
    assert trigger.next(datetime.max.replace(tzinfo=UTC)) is None
    instant, last = trigger.after(NEVER - 3 * 86_400_000), None
    for _ in range(5000):
        if instant is None:
            break
        last, instant = instant, trigger.after(instant)
    assert last is None or last <= NEVER


def test_the_last_second_of_9999():
    last = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
    assert Cron("59 59 23 31 12 *").next(datetime(9999, 1, 1, tzinfo=UTC)) == last
    assert Cron("* * * * * *").next(last - timedelta(seconds=1)) == last
    assert Cron("* * * * * *").next(last) is None


@pytest.mark.parametrize("zone", ZONES)
def test_1970_works(zone):
    start = datetime(1969, 12, 30, tzinfo=UTC)
    found = Cron("0 0 1 1 *", zone).next(start)
    assert found
    assert found.astimezone(ZoneInfo(zone)) == datetime(1970, 1, 1, tzinfo=ZoneInfo(zone))
    assert Cron("* * * * *", zone).after(-60_000) == 0
    assert Cron("* * * * *", zone).after(0) == 60_000


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("expr", ["* * * * *", "0 0 1 * *", "0 0 29 2 *"])
def test_before_the_first_year_the_search_begins_with_it(expr, zone):
    trigger = Cron(expr, zone)
    found = trigger.after(-(10**18))
    assert found is not None
    assert -62_135_596_800_000 <= found < to_millis(datetime(10, 1, 1, tzinfo=UTC))
    assert trigger.next(datetime.min.replace(tzinfo=UTC)) is not None
    assert trigger.next(datetime.min.replace(tzinfo=timezone(timedelta(hours=14)))) is not None


def test_week_53():
    trigger = Cron("0 0 * * mon")
    assert trigger.next(datetime(2026, 12, 28, tzinfo=UTC)) == datetime(2027, 1, 4, tzinfo=UTC)
    assert trigger.next(datetime(2026, 12, 27, tzinfo=UTC)) == datetime(2026, 12, 28, tzinfo=UTC)


def test_a_datetime_of_any_zone_is_taken_and_utc_given_back():
    moment = datetime(2026, 1, 1, 8, 59, tzinfo=ZoneInfo("Europe/Rome"))
    found = Cron("0 9 * * *", "Europe/Rome").next(moment)
    assert found == datetime(2026, 1, 1, 8, tzinfo=UTC)
    assert found.tzinfo is UTC


def test_a_naive_datetime_is_refused():
    with pytest.raises(InvalidTrigger, match="no time zone"):
        Cron("* * * * *").next(NAIVE)
    with pytest.raises(InvalidTrigger, match="no time zone"):
        Cron("* * * * *", until=datetime(2030, 1, 1, tzinfo=UTC)).next(NAIVE)


def test_sub_minute_offsets_of_old_times():
    zone = ZoneInfo("Africa/Monrovia")  # 44 minutes 30 seconds behind until 1972
    found = Cron("0 9 * * *", "Africa/Monrovia").next(datetime(1971, 6, 1, tzinfo=UTC))
    assert found == datetime(1971, 6, 1, 9, tzinfo=zone)
    assert found.second == 30
