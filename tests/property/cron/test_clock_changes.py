"""Through every change of the clocks, second by second where it matters."""

from datetime import UTC, datetime, timedelta
from itertools import product
from zoneinfo import ZoneInfo

import pytest

from tests.property.cron.clock_changes import LOST_DAY, ZONES, clock_changes
from tests.property.cron.oracle import Oracle
from tests.property.cron.reference import reference_fires
from tickwell.clock import to_datetime, to_millis
from tickwell.domain.trigger import Cron

FIXED = [
    "30 2 * * *",
    "0 2 * * *",
    "30 1 * * *",
    "0 0 * * *",
    "15,45 0-3 * * *",
    "0 3 * * *",
    "45 1 * * *",
    "30 23 * * *",
    "0 2,3 * * *",
    "7/10 1-3 * * *",
    "0 12 30 12 *",
    "30 0 1 * fri",
    "15 2 L * *",
]
FOLLOWING = [
    "*/15 * * * *",
    "*/30 2 * * *",
    "* 0 * * *",
    "*/10 1 * * *",
    "5 * * * *",
    "30 */3 * * *",
    "*/5 23 * * *",
    "*/20 * 31 * *",
    "0 * * * sun",
    "*/30 15 1 * * *",
    "*/20 59 * * * *",
]
POLICIES = list(product(("shift", "skip"), ("first", "last", "both")))
CHANGES = clock_changes()


def fires(trigger: Cron, start: datetime, end: datetime) -> list[datetime]:
    return [to_datetime(t) for t in trigger.between(to_millis(start), to_millis(end))]


def test_the_changes_are_all_there():
    counts = {zone: sum(name == zone for name, _ in CHANGES) for zone in ZONES}
    assert counts.pop("Asia/Kathmandu") == 0
    assert counts.pop("Africa/Casablanca") == 15  # a second Ramadan begins in 2030
    assert set(counts.values()) == {14}
    assert LOST_DAY in CHANGES


@pytest.mark.parametrize("expr", FIXED)
@pytest.mark.parametrize(("gap", "fold"), POLICIES)
def test_fixed_times_obey_the_policy(expr, gap, fold):
    for name, change in CHANGES:
        start, end = change - timedelta(hours=30), change + timedelta(hours=30)
        found = fires(Cron(expr, name, dst_gap=gap, dst_fold=fold), start, end)
        assert found == Oracle(expr).fires(ZoneInfo(name), start, end, gap, fold), (name, change)


@pytest.mark.parametrize("expr", FOLLOWING)
@pytest.mark.parametrize(("gap", "fold"), [("shift", "first"), ("skip", "last")])
def test_wildcards_follow_elapsed_time_whatever_the_policy(expr, gap, fold):
    for name, change in CHANGES:
        start, end = change - timedelta(hours=5), change + timedelta(hours=5)
        found = fires(Cron(expr, name, dst_gap=gap, dst_fold=fold), start, end)
        assert found == Oracle(expr).fires(ZoneInfo(name), start, end), (name, change)


@pytest.mark.parametrize("expr", FIXED + FOLLOWING)
def test_cronsim_agrees(expr):
    for name, change in CHANGES:
        if expr in FOLLOWING and name == "Australia/Lord_Howe":
            continue  # wrong there: see test_differences
        start, end = change - timedelta(hours=30), change + timedelta(hours=30)
        expected = reference_fires(expr, ZoneInfo(name), start, end)
        assert fires(Cron(expr, name), start, end) == expected, (name, change)


def test_every_minute_is_a_minute_after_the_last():
    for name, change in CHANGES:
        start, end = change - timedelta(hours=3), change + timedelta(hours=3)
        found = fires(Cron("* * * * *", name), start, end)
        assert found == [start + timedelta(minutes=n) for n in range(1, 361)]


@pytest.mark.parametrize("expr", ["30 2 * * *", "0 0 * * *", "30 1 * * *", "15 23 * * *"])
@pytest.mark.parametrize("zone", ZONES)
def test_a_daily_job_runs_once_on_each_day(expr, zone):
    start, end = datetime(2024, 1, 1, 4, tzinfo=UTC), datetime(2031, 1, 1, 4, tzinfo=UTC)
    found = fires(Cron(expr, zone), start, end)
    assert len(found) == (end - start).days
    days = {moment.astimezone(ZoneInfo(zone)).date() for moment in found}
    assert len(days) == len(found)


@pytest.mark.parametrize("expr", ["30 2 * * *", "0 30 2 * * *", "*/15 1 * * *", "10,50 2 * * *"])
def test_asked_from_any_minute_the_answer_is_the_same(expr):
    """Also from inside the repeated hour, where other libraries answer with the past."""
    for name, change in CHANGES:
        trigger = Cron(expr, name)
        begin = to_millis(change - timedelta(hours=2))
        known = list(trigger.between(begin, begin + 40 * 3_600_000))
        for instant in range(begin, begin + 4 * 3_600_000, 420_000):
            later = next(each for each in known if each > instant)
            assert trigger.after(instant) == later
        for each in known:
            assert trigger.after(each - 1) == each
            assert trigger.after(each) != each
