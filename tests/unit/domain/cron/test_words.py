"""In plain words, and the traps said aloud."""

import pytest

from tickwell.domain.trigger import Cron, Every


@pytest.mark.parametrize(
    ("expr", "words"),
    [
        ("0 9 * * mon-fri", "at 09:00 on Monday to Friday"),
        ("0 9,17 * * *", "at 09:00 and 17:00 every day"),
        ("* * * * *", "every minute"),
        ("*/5 * * * *", "every 5 minutes"),
        ("*/5 9-17 * * 1-5", "every 5 minutes from 09:00 to 17:59 on Monday to Friday"),
        ("0 * * * *", "every hour"),
        ("0 */2 * * *", "every 2 hours"),
        ("5 * * * *", "at minute 5 of every hour"),
        ("0 8-18 * * *", "on the hour from 08:00 to 18:59 every day"),
        ("*/7 * * * *", "at minute 0, 7, 14, 21, 28, 35, 42, 49 and 56"),
        ("*/10 * * * * *", "every 10 seconds"),
        ("30 0 9 * * *", "at 09:00:30 every day"),
        ("0 0 1 1 *", "at 00:00 on day 1 of the month in January"),
        ("0 0 * feb-apr,dec *", "at 00:00 in February to April and December"),
        ("0 0 L * *", "at 00:00 on the last day of the month"),
        ("0 0 L-3 * *", "at 00:00 on the day 3 before the last of the month"),
        ("0 0 LW * *", "at 00:00 on the last working day of the month"),
        ("0 0 15W * *", "at 00:00 on the working day nearest to day 15 of the month"),
        ("0 0 * * 5L", "at 00:00 on the last Friday of the month"),
        ("0 0 * * 1#2", "at 00:00 on the second Monday of the month"),
        ("0 0 13 * 5", "at 00:00 on day 13 of the month or on Friday (either is enough)"),
        ("0 0 */15 * 1", "at 00:00 on day 1, 16 and 31 of the month, and only on Monday"),
        ("0 0 * * sat,sun", "at 00:00 on Saturday and Sunday"),
        ("0 0,6 1,15 * *", "at 00:00 and 06:00 on day 1 and 15 of the month"),
        ("0 1,5,9,13,17,22 * * *", "on the hour in the hours 01, 05, 09, 13, 17 and 22 every day"),
    ],
)
def test_explained(expr, words):
    assert Cron(expr, "Europe/Rome").explain() == f"{words}, Europe/Rome"


def test_an_unbound_hash_is_said():
    assert Cron("H H * * *").explain().endswith("UTC (H differs from job to job)")


def test_either_day_field_is_said_aloud():
    (warning,) = Cron("0 0 13 * 5").warnings()
    assert "either one matches" in warning
    warning, _ = Cron("0 0 */2 * 5").warnings()
    assert "only when both match" in warning


@pytest.mark.parametrize(
    ("gap", "fold", "spring", "autumn"),
    [
        ("shift", "first", "runs at 03:00 instead", "the first time only"),
        ("skip", "last", "does not run then", "the second time only"),
        ("shift", "both", "runs at 03:00 instead", "both times"),
    ],
)
def test_clock_changes_are_said(gap, fold, spring, autumn):
    trigger = Cron("30 2 * * *", "Europe/Berlin", dst_gap=gap, dst_fold=fold)
    missing, repeated = trigger.warnings()
    assert missing.startswith("2026-03-29 02:30 in Europe/Berlin is missing")
    assert spring in missing
    assert repeated.startswith("2026-10-25 02:30 in Europe/Berlin happens twice")
    assert autumn in repeated


def test_a_warning_names_the_next_change():
    trigger = Cron("30 2 * * *", "Europe/Berlin")
    november = 1_793_491_200_000
    missing, repeated = trigger.warnings(november)
    assert missing.startswith("2027-03-28 02:30 in Europe/Berlin is missing")
    assert repeated.startswith("2027-10-31 02:30 in Europe/Berlin happens twice")


def test_wildcards_with_an_hour_are_warned_about_too():
    missing, repeated = Cron("*/30 2 * * *", "Europe/Berlin").warnings()
    assert "does not run" in missing
    assert "both times" in repeated


@pytest.mark.parametrize(
    ("expr", "zone"),
    [
        ("30 2 * * *", "UTC"),
        ("30 2 * * *", "Asia/Kathmandu"),
        ("0 9 * * *", "Europe/Berlin"),
        ("*/5 * * * *", "Europe/Berlin"),
        ("30 2 * * mon", "Europe/Berlin"),
    ],
)
def test_without_a_trap_there_is_no_warning(expr, zone):
    assert Cron(expr, zone).warnings() == []


@pytest.mark.parametrize(
    ("expr", "warning"),
    [
        (
            "*/7 * * * *",
            "minute */7 starts over with each hour: 0 follows 56 after 4 minutes; Every",
        ),
        ("0/7 * * * *", "minute 0/7 starts over with each hour: 0 follows 56 after 4 minutes"),
        ("0-59/7 * * * *", "minute 0-59/7 starts over with each hour"),
        ("*/40 * * * *", "0 follows 40 after 20 minutes"),
        ("*/59 * * * *", "0 follows 59 after 1 minute;"),
        (
            "0 */5 * * *",
            'hour */5 starts over with each day: 0 follows 20 after 4 hours; Every("5h")',
        ),
        ("0 0 */2 * *", "starts over with each month, so its last step may be shorter"),
        ("0 0 1 */5 *", "month */5 starts over with each year: 1 follows 11 after 2 months"),
        ("0 0 31 * *", "day 31 is missing in 5 of 12 months: it does not run then; L is the last"),
        ("0 0 30,15 * *", "day 30 is missing in 1 of 12 months"),
        ("0 0 31 1,4 *", "day 31 is missing in 1 of 2 months"),
        ("0 0 29 2 *", "day 29 is missing in most years"),
        (
            "0 0 9 ? * 2-6",
            "day-of-week 2-6 is Tuesday to Saturday, as cron counts from Sunday, 0; Q",
        ),
    ],
)
def test_what_surprises_is_said(expr, warning):
    assert [each for each in Cron(expr).warnings() if warning in each]


@pytest.mark.parametrize(
    "expr",
    [
        *("*/5 * * * *", "*/30 * * * * *", "0 */6 * * *", "0 0 1 */3 *", "0 0 28 * *"),
        *("0 0 31 1 *", "0 0 L * *", "0 0 29-31 * *", "0 9 ? * mon", "5/7 * * * *"),
    ],
)
def test_what_does_not_surprise_is_not_warned_of(expr):
    assert Cron(expr).warnings() == []


def test_weeks_count_from_a_thursday():
    (warning,) = Every("2w").warnings()
    assert "fires on a Thursday at 00:00 UTC" in warning
    assert Every("1w", phase="1h").warnings() == []
    assert Every("1w", after="finish").warnings() == []
    assert Every("1d").warnings() == []


@pytest.mark.parametrize(
    ("dialect", "expr", "words"),
    [
        ("quartz", "0 0 9 ? * 2-6", "at 09:00 on Monday to Friday, UTC (read as Quartz has it)"),
        (
            "aws",
            "cron(0 9 ? * 6L 2027)",
            "at 09:00 on the last Friday of the month in 2027, UTC (re",
        ),
        ("quartz", "0 0 9 ? * L", "at 09:00 on Saturday, UTC"),
        ("quartz", "0 0 9 LW * ?", "on the last working day of the month"),
        ("quartz", "0 0 9 ? * FRI#3", "on the third Friday of the month"),
        (
            "celery",
            "0 9 13 * fri",
            "on day 13 of the month, and only on Friday, UTC (read as Celery",
        ),
        ("celery", "0 22-2 * * sunday", "on Sunday"),
    ],
)
def test_other_dialects_are_said_as_they_are_read(dialect, expr, words):
    trigger = Cron(expr, dialect=dialect)
    assert words in trigger.explain()
    assert trigger.warnings() == []
    assert trigger.bound("job") == trigger
