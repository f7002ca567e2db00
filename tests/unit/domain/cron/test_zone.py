"""Offset changes found by probing are those that zoneinfo knows."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from tickwell.domain.cron.wall import wall
from tickwell.domain.cron.zone import changes
from tickwell.domain.trigger import Calendar, CalendarEvery, Cron, Window
from tickwell.errors import InvalidTrigger

#: Among them the shortest time that any zone keeps an offset: a week less an hour.
ZONES = ["America/Recife", "Asia/Gaza", "Europe/Berlin", "America/St_Johns", "Africa/Casablanca"]


@pytest.mark.parametrize("name", [*ZONES, "Antarctica/Troll", "Pacific/Apia", "Asia/Kathmandu"])
def test_no_change_is_missed(name):
    zone = ZoneInfo(name)
    low, high = 946_684_800, 1_356_998_400  # 2000 to 2013
    expected, offset = 0, None
    for second in range(low, high + 1, 21_600):
        now = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(0, second)).astimezone(zone).utcoffset()
        expected += offset is not None and now != offset
        offset = now
    assert len(changes(name, low, high)) == expected


def test_a_week_of_summer_in_gaza_in_2040():
    low = int(datetime(2040, 10, 15, tzinfo=UTC).timestamp())
    assert len(changes("Asia/Gaza", low, low + 20 * 86_400)) == 2


@pytest.mark.parametrize("name", ZONES)
def test_spans_follow_on_each_other_across_blocks(name):
    second = 0
    shared = wall(name, "shift", "first")
    while second < 2_000_000_000:
        span = shared.span(second)
        assert span.start <= second < span.end
        zone = ZoneInfo(name)
        for probe in (span.start, span.end - 1):
            moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(0, probe)
            assert moment.astimezone(zone).utcoffset() == timedelta(0, span.offset)
        second = span.end


def test_one_object_for_a_zone_and_its_rules():
    assert wall("Europe/Rome", "shift", "first") is wall("Europe/Rome", "shift", "first")
    assert wall("Europe/Rome", "shift", "first") is not wall("Europe/Rome", "skip", "first")


@pytest.mark.parametrize("tz", [ZoneInfo("Europe/Rome"), "Europe/Rome"])
def test_a_zone_may_be_an_object(tz):
    anchor = datetime(2026, 1, 31, 9)  # noqa: DTZ001 - wall time
    assert Cron("0 9 * * *", tz).tz == "Europe/Rome"
    assert Cron("0 9 * * *", tz=tz) == Cron("0 9 * * *", tz="Europe/Rome")
    assert CalendarEvery(months=1, anchor=anchor, tz=tz).tz == "Europe/Rome"
    assert Window("mon", tz=tz).tz == "Europe/Rome"
    assert Calendar("days", ["2026-12-25"], tz=tz).tz == "Europe/Rome"
    assert Cron("0 9 * * *", UTC).tz == "UTC"


def test_an_object_without_a_name_is_refused():
    with pytest.raises(InvalidTrigger, match="given by name"):
        Cron("0 9 * * *", timezone(timedelta(hours=1)))
