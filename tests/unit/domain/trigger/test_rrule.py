"""Recurrence rules: what is refused, what is bounded, and how they are kept."""

from contextlib import suppress
from datetime import UTC, datetime

import pytest

from tickwell import BusinessDays, Cron, RRule, Window
from tickwell.clock import NEVER
from tickwell.domain.rrule import recurrence
from tickwell.domain.trigger import trigger_from_document, trigger_to_document
from tickwell.domain.trigger.work import tried_before
from tickwell.errors import InvalidTrigger

START = datetime.fromisoformat("2026-01-30T09:00")


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("", "FREQ is ''"),
        ("FREQ=SOMETIMES", "not one of YEARLY"),
        ("FREQ=DAILY;FREQ=DAILY", "has FREQ twice"),
        ("FREQ=DAILY;BYEASTER=1", "BYEASTER is not a part"),
        ("FREQ=DAILY;INTERVAL=0", "INTERVAL is '0'"),
        ("FREQ=DAILY;COUNT=1001", "for more, use max_runs"),
        ("FREQ=DAILY;COUNT=3;UNTIL=20270101", "mutually exclusive"),
        ("FREQ=DAILY;UNTIL=soon", "UNTIL is not a date"),
        ("FREQ=DAILY;UNTIL=20261399", "is no date"),
        ("FREQ=DAILY;BYHOUR=24", "BYHOUR has '24', not 0 to 23"),
        ("FREQ=MONTHLY;BYMONTHDAY=0", "BYMONTHDAY has '0'"),
        ("FREQ=MONTHLY;BYDAY=XX", "BYDAY has 'XX'"),
        ("FREQ=WEEKLY;BYDAY=1MO", "YEARLY or MONTHLY only"),
        ("FREQ=WEEKLY;BYMONTHDAY=1", "BYMONTHDAY does not go with"),
        ("FREQ=DAILY;BYWEEKNO=1", "BYWEEKNO goes with"),
        ("FREQ=DAILY;BYYEARDAY=1", "BYYEARDAY does not go with"),
        ("FREQ=HOURLY;BYMINUTE=1;BYSETPOS=1", "BYSETPOS goes with"),
        ("FREQ=DAILY;BYSETPOS=1", "BYSETPOS needs another"),
        ("FREQ=DAILY;WKST=XX", "WKST is 'XX'"),
        ("FREQ=DAILY;" + "X" * 600, "more than 512"),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "never fires"),
        ("FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30", "never fires"),
        ("FREQ=HOURLY;INTERVAL=24;BYHOUR=10", "never fires"),
        ("FREQ=DAILY;UNTIL=20260129T000000Z", "never fires"),
    ],
)
def test_what_cannot_work_is_refused(rule, reason):
    with pytest.raises(InvalidTrigger) as caught:
        RRule(rrule=rule, dtstart=START)
    assert reason in str(caught.value)
    assert caught.value.field == "rrule"
    assert caught.value.hint


@pytest.mark.parametrize(
    "rule",
    [
        "FREQ=SECONDLY;INTERVAL=99999;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=SECONDLY;INTERVAL=86400;BYSECOND=1",
        "FREQ=MINUTELY;INTERVAL=7;BYDAY=MO;BYMONTH=2;BYMONTHDAY=29",
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO",
        "FREQ=YEARLY;INTERVAL=99999",
        "FREQ=DAILY;BYHOUR=1,2,3;BYMINUTE=1,2,3;BYSECOND=1,2;BYSETPOS=366",
        "FREQ=SECONDLY;COUNT=1000",
    ],
)
def test_whatever_the_rule_little_is_done(rule, monkeypatch):
    years = list[int]()
    fitting = recurrence.Recurrence._fitting

    def count(self, year):
        years.append(year)
        return fitting(self, year)

    monkeypatch.setattr(recurrence.Recurrence, "_fitting", count)
    try:
        trigger = RRule(rrule=rule, dtstart=START.replace(second=7))
    except InvalidTrigger:
        trigger = RRule(rrule="FREQ=DAILY", dtstart=START)
    trigger.after(2_000_000_000_000)
    assert len(years) < 150


def test_a_document_keeps_it():
    document = {
        "rrule": "FREQ=MONTHLY;BYDAY=-1FR",
        "dtstart": "2026-01-30T09:00:00",
        "exdates": ["2026-02-27T09:00:00"],
        "rdates": ["2026-02-26T09:00:00"],
        "tz": "Europe/Rome",
        "business_days": {"shift": "previous"},
        "max_runs": 5,
    }
    trigger = trigger_from_document(document)
    assert trigger_to_document(trigger) == document
    assert trigger == RRule(
        rrule="rrule:freq=monthly;byday=-1fr",
        dtstart=START,
        exdates=(START.replace(month=2, day=27),),
        rdates=(START.replace(month=2, day=26),),
        tz="Europe/Rome",
        business_days=BusinessDays("previous"),
        max_runs=5,
    )
    assert trigger.busiest() == (1, 1)
    assert trigger.explain().startswith("by the rule FREQ=MONTHLY;BYDAY=-1FR from 2026-01-30 at")


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"rrule": "FREQ=DAILY"}, "dtstart"),
        ({"rrule": "FREQ=DAILY", "dtstart": "soon"}, "dtstart"),
        ({"rrule": "FREQ=DAILY", "dtstart": "2026-01-30T09:00", "exdates": ["x"]}, "exdates"),
        ({"rrule": "FREQ=DAILY", "dtstart": "2026-01-30T09:00", "tz": "x"}, "tz"),
        ({"rrule": "FREQ=X", "dtstart": "2026-01-30T09:00"}, "rrule"),
    ],
)
def test_what_is_wrong_is_named(document, field):
    with pytest.raises(InvalidTrigger) as caught:
        trigger_from_document(document)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("rule", "warning"),
    [
        ("FREQ=MONTHLY;BYMONTHDAY=31", "day 31 is missing in 5 of 12 months: it does not run then"),
        ("FREQ=MONTHLY;BYMONTHDAY=15,30", "day 30 is missing in 1 of 12 months"),
        ("FREQ=MONTHLY", "day 30 is missing in 1 of 12 months"),  # that of dtstart
        ("FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=31", "day 31 is missing in 1 of 4 months"),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", "day 29 is missing in most years"),
    ],
)
def test_a_day_that_some_months_lack_is_warned_of(rule, warning):
    (found,) = RRule(rrule=rule, dtstart=START).warnings()
    assert found.startswith(warning)
    assert found.endswith("; BYMONTHDAY=-1 is the last day")


@pytest.mark.parametrize(
    "rule",
    [
        *("FREQ=MONTHLY;BYMONTHDAY=-1", "FREQ=MONTHLY;BYMONTHDAY=28", "FREQ=YEARLY"),
        *("FREQ=MONTHLY;BYDAY=-1FR", "FREQ=DAILY", "FREQ=MONTHLY;INTERVAL=12"),
        "FREQ=MONTHLY;BYMONTHDAY=28,29,30,31;BYSETPOS=-1",
        "FREQ=MONTHLY;BYDAY=MO;BYMONTHDAY=25,26,27,28,29,30,31",
    ],
)
def test_a_rule_for_every_month_is_not_warned_of(rule):
    assert RRule(rrule=rule, dtstart=START).warnings() == []


class Looks:
    """Counts what all rules look at together."""

    def __init__(self, monkeypatch):
        self._rules: list[recurrence.Recurrence] = []
        make = recurrence.Recurrence.__init__

        def note(rule, *args):
            make(rule, *args)
            self._rules.append(rule)

        monkeypatch.setattr(recurrence.Recurrence, "__init__", note)

    def taken(self) -> int:
        return sum(rule.looks for rule in self._rules)


EVERY_DAY = "BYDAY=MO,TU,WE,TH,FR,SA,SU"


@pytest.mark.parametrize(
    "rule",
    [
        "FREQ=SECONDLY;INTERVAL=59;BYHOUR=0;BYMINUTE=0;BYSECOND=59",
        "FREQ=SECONDLY;INTERVAL=86399;BYMINUTE=0;BYSECOND=0",
        "FREQ=MINUTELY;INTERVAL=3599;BYHOUR=0;BYMINUTE=59",
        "FREQ=WEEKLY;INTERVAL=399",
        "FREQ=YEARLY;BYWEEKNO=53;BYDAY=MO",
        f"FREQ=DAILY;INTERVAL=3599;{EVERY_DAY}",
        f"FREQ=YEARLY;{EVERY_DAY};BYSETPOS=366",
    ],
)
def test_a_count_that_takes_long_to_count_is_refused(rule, monkeypatch):
    looks = Looks(monkeypatch)
    with pytest.raises(InvalidTrigger, match="COUNT=1000 of this rule takes too long"):
        RRule(rrule=f"{rule};COUNT=1000", dtstart=START)
    assert looks.taken() < 120_000


@pytest.mark.parametrize("every", ["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY"])
def test_the_longest_count_of_a_plain_rule_is_counted(every):
    rule = RRule(rrule=f"FREQ={every};COUNT=1000", dtstart=datetime.fromisoformat("2026-01-01"))
    found = sum(1 for _ in rule.between(0, NEVER))
    assert found == 1000


def test_a_saved_rule_is_read_whatever_it_takes_to_count():
    document = {"rrule": "FREQ=WEEKLY;INTERVAL=99;COUNT=1000", "dtstart": "2026-01-01T09:00:00"}
    with pytest.raises(InvalidTrigger, match="takes too long"):
        trigger_from_document(document)
    with tried_before():
        saved = trigger_from_document(document)
    assert saved.next(datetime(2026, 1, 2, tzinfo=UTC)) == datetime(2027, 11, 25, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    "rule",
    [
        "FREQ=MINUTELY;INTERVAL=99999;BYYEARDAY=366,-366;BYDAY=MO",
        "FREQ=HOURLY;INTERVAL=86399;BYYEARDAY=366,-366;BYDAY=MO",
    ],
)
def test_a_rule_of_hours_is_searched_for_forty_years_too(rule, monkeypatch):
    looks = Looks(monkeypatch)
    with pytest.raises(InvalidTrigger, match="never fires"):
        RRule(rrule=rule, dtstart=START)
    assert looks.taken() < 30_000


@pytest.mark.parametrize(
    "rule",
    [
        "FREQ=SECONDLY;INTERVAL=3599;BYMINUTE=0;BYSECOND=0",
        f"FREQ=YEARLY;{EVERY_DAY};BYSETPOS=366",
    ],
)
def test_what_a_search_costs_counts_where_a_window_takes_fires_out(rule, monkeypatch):
    looks = Looks(monkeypatch)
    with suppress(InvalidTrigger):
        RRule(rrule=rule, dtstart=START, within=(Window("mon", "00:00", "00:01"),))
    with suppress(InvalidTrigger):
        RRule(rrule=rule, dtstart=START) & Cron("1 0 * * *")
    assert looks.taken() < 200_000


def test_a_position_in_the_last_days_of_all_time_ends():
    end = datetime.fromisoformat("9999-12-31T23:59:59")
    with pytest.raises(InvalidTrigger, match="never fires"):
        RRule(rrule="FREQ=DAILY;BYSETPOS=1;BYHOUR=1", dtstart=end)
