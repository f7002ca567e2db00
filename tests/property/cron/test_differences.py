"""Where cronsim answers otherwise, and why we do not follow it."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim

from tests.property.cron.oracle import Oracle
from tests.property.cron.reference import reference_fires
from tickwell.clock import to_datetime, to_millis
from tickwell.domain.trigger import Cron
from tickwell.errors import InvalidTrigger

LORD_HOWE = ZoneInfo("Australia/Lord_Howe")


def fires(trigger: Cron, start: datetime, end: datetime) -> list[datetime]:
    return [to_datetime(t) for t in trigger.between(to_millis(start), to_millis(end))]


@pytest.mark.parametrize("expr", ["*/30 2 * * *", "0 */2 * * *", "* 2 * * *"])
def test_half_an_hour_back_loses_nothing(expr):
    """cronsim goes to the full hour and adds an hour, which lands on 02:30: 02:00 is lost."""
    start = datetime(2026, 4, 4, 14, tzinfo=UTC)
    end = start + timedelta(hours=3)
    found = fires(Cron(expr, "Australia/Lord_Howe"), start, end)
    lost = datetime(2026, 4, 4, 15, 30, tzinfo=UTC)
    assert lost.astimezone(LORD_HOWE).strftime("%H:%M") == "02:00"
    assert found == Oracle(expr).fires(LORD_HOWE, start, end)
    assert lost in found
    assert lost not in reference_fires(expr, LORD_HOWE, start, end)


def test_a_friday_that_never_was():
    """cronsim fires at 00:00 of the Friday that Samoa left out, which is Saturday already."""
    zone = ZoneInfo("Pacific/Apia")
    start = datetime(2011, 12, 30, 9, tzinfo=UTC)
    end = start + timedelta(days=2)
    saturday = datetime(2011, 12, 30, 10, tzinfo=UTC)
    assert saturday.astimezone(zone).strftime("%a") == "Sat"
    assert saturday in reference_fires("* * * * fri", zone, start, end)
    assert fires(Cron("* * * * fri", "Pacific/Apia"), start, end) == []


def test_asked_from_the_second_pass_the_answer_is_not_past():
    """cronsim forgets which pass it was asked from."""
    zone = ZoneInfo("Europe/Berlin")
    second_pass = datetime(2026, 10, 25, 1, 10, tzinfo=UTC)
    assert next(CronSim("30 2 * * *", second_pass.astimezone(zone))) < second_pass
    found = Cron("30 2 * * *", "Europe/Berlin").next(second_pass)
    assert found == datetime(2026, 10, 26, 1, 30, tzinfo=UTC)


def test_a_seconds_field_does_not_make_a_daily_job_lose_or_double_a_run():
    """cronsim lets every six-field expression follow elapsed time; 0 30 2 is 30 2 to us."""
    zone = ZoneInfo("Europe/Berlin")
    for change in (datetime(2026, 3, 29, 1, tzinfo=UTC), datetime(2026, 10, 25, 1, tzinfo=UTC)):
        start, end = change - timedelta(hours=12), change + timedelta(hours=12)
        five = fires(Cron("30 2 * * *", "Europe/Berlin"), start, end)
        assert fires(Cron("0 30 2 * * *", "Europe/Berlin"), start, end) == five
        assert len(five) == 1
        assert len(reference_fires("0 30 2 * * *", zone, start, end)) != 1


@pytest.mark.parametrize("expr", ["*/61 * * * *", "0 0 L/2 * *", "0 0 * * 5/8"])
def test_steps_that_mean_nothing_are_refused(expr):
    """cronsim takes them and fires at the first value only, or as if there were no step."""
    CronSim(expr, datetime(2026, 1, 1, tzinfo=UTC))
    with pytest.raises(InvalidTrigger):
        Cron(expr)


def test_a_range_of_one_value_stays_one_value():
    """cronsim reads 3-3/16 as 3/16, and so fires at 19 too."""
    start = datetime(2026, 1, 1, tzinfo=UTC)
    end = start + timedelta(days=1)
    assert fires(Cron("0 3-3/16 * * *"), start, end) == [start + timedelta(hours=3)]
    assert len(reference_fires("0 3-3/16 * * *", ZoneInfo("UTC"), start, end)) == 2


@pytest.mark.parametrize("expr", ["0 0 LW * */6", "0 0 */19 * 5#4", "0 0 31 2,4 *"])
def test_days_that_never_come_are_refused_at_once(expr):
    """cronsim takes the first two, and searches fifty years on every call."""
    with pytest.raises(InvalidTrigger):
        Cron(expr)
