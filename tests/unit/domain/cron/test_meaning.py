"""What each piece of an expression means."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tickwell.domain.trigger import Cron


def first_days(expr: str, count: int = 4, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)):
    """The first fires from 2026 on, as month-day."""
    trigger, found = Cron(expr), []
    moment: Any = start
    for _ in range(count):
        moment = trigger.next(moment)
        found.append(moment.strftime("%m-%d"))
    return found


@pytest.mark.parametrize(
    ("alias", "expr"),
    [
        ("@yearly", "0 0 1 1 *"),
        ("@annually", "0 0 1 1 *"),
        ("@monthly", "0 0 1 * *"),
        ("@weekly", "0 0 * * 0"),
        ("@daily", "0 0 * * *"),
        ("@midnight", "0 0 * * *"),
        ("@hourly", "0 * * * *"),
        ("@DAILY", "0 0 * * *"),
    ],
)
def test_aliases(alias, expr):
    assert Cron(alias)._rule is Cron(expr)._rule


@pytest.mark.parametrize(
    ("expr", "days"),
    [
        ("0 9 L * *", ["01-31", "02-28", "03-31", "04-30"]),
        ("0 9 L-3 * *", ["01-28", "02-25", "03-28", "04-27"]),
        ("0 9 LW * *", ["01-30", "02-27", "03-31", "04-30"]),
        ("0 9 15W * *", ["01-15", "02-16", "03-16", "04-15"]),
        ("0 9 1W * *", ["01-01", "02-02", "03-02", "04-01"]),
        ("0 9 1W 8 *", ["08-03", "08-02", "08-01", "08-01"]),
        ("0 9 31W 5 *", ["05-29", "05-31", "05-31", "05-31"]),
        ("0 9 * * 5L", ["01-30", "02-27", "03-27", "04-24"]),
        ("0 9 * * friL", ["01-30", "02-27", "03-27", "04-24"]),
        ("0 9 * * 1#2", ["01-12", "02-09", "03-09", "04-13"]),
        ("0 9 * * mon#5", ["03-30", "06-29", "08-31", "11-30"]),
        ("0 9 * * 0", ["01-04", "01-11", "01-18", "01-25"]),
        ("0 9 * * 7", ["01-04", "01-11", "01-18", "01-25"]),
        ("0 9 ? * sat-sun", ["01-03", "01-04", "01-10", "01-11"]),
        ("0 9 13 * FRI", ["01-02", "01-09", "01-13", "01-16"]),
        ("0 9 */13 * fri", ["02-27", "03-27", "05-01", "08-14"]),
        ("0 9 13 * */5", ["02-13", "03-13", "09-13", "11-13"]),
        ("0 9 31 * ?", ["01-31", "03-31", "05-31", "07-31"]),
        ("0 9 1 jan,JUL *", ["07-01", "01-01", "07-01", "01-01"]),
        ("0 9 L,15 2 *", ["02-15", "02-28", "02-15", "02-28"]),
        ("0 9 29 2 *", ["02-29", "02-29", "02-29", "02-29"]),
    ],
)
def test_days(expr, days):
    start = (
        datetime(2026, 1, 1, 12, tzinfo=UTC) if "jan" in expr else datetime(2026, 1, 1, tzinfo=UTC)
    )
    assert first_days(expr, start=start) == days


def test_seconds_stand_first():
    moment = Cron("15 30 9 * * *").next(datetime(2026, 1, 1, tzinfo=UTC))
    assert moment == datetime(2026, 1, 1, 9, 30, 15, tzinfo=UTC)
    assert Cron("*/20 * * * * *").next(moment) == datetime(2026, 1, 1, 9, 30, 20, tzinfo=UTC)


def test_a_step_from_a_value_runs_to_the_end_of_the_field():
    fires = Cron("5/15 * * * *").between(0, 3_600_000)
    assert [instant // 60_000 for instant in fires] == [5, 20, 35, 50]


def test_a_step_as_long_as_the_field_takes_its_first_value():
    assert Cron("*/60 */24 * * *").next(datetime(2026, 1, 1, 1, tzinfo=UTC)) == datetime(
        2026, 1, 2, tzinfo=UTC
    )


def test_within_a_second_the_one_under_way_is_gone():
    trigger = Cron("* * * * * *")
    assert trigger.after(1500) == 2000
    assert trigger.after(1000) == 2000
    assert trigger.after(999) == 1000
    assert trigger.next(datetime(2026, 1, 1, 0, 0, 0, 1, tzinfo=UTC)) == datetime(
        2026, 1, 1, 0, 0, 1, tzinfo=UTC
    )
