"""What is refused, with the field, the reason and an example."""

import pytest

from tickwell.domain.cron import parse
from tickwell.domain.trigger import Cron
from tickwell.errors import InvalidTrigger


@pytest.mark.parametrize(
    ("expr", "field", "reason"),
    [
        ("", "cron", "empty"),
        ("   ", "cron", "empty"),
        ("* * *", "cron", "3 fields"),
        ("* * * * * * * *", "cron", "8 fields"),
        ("*/5 * * * * /opt/poll", "cron", "'/opt/poll' after */5 * * * *. Leave the command out"),
        ("0 9 * * 1 root /usr/bin/x", "cron", "goes on with 'root /usr/bin/x' after 0 9"),
        ("30 2 * * 1-5 curl -fsS https://shop.example", "cron", "goes on with 'curl -fsS https"),
        ("0 9 * * * [ -e lock ]", "cron", "goes on with '[ -e lock ]'"),
        ("@weekly /opt/report", "cron", "goes on with '/opt/report' after @weekly"),
        ("0 0 9 * * * 2300", "cron.year", "2300 is outside 1970-2199"),
        ("0 0 9 * * * 2028-2026", "cron.year", "For example: 2026-2028"),
        ("0 0 9 * * * 2026/0", "cron.year", "step '0'"),
        ("0 0 9 * * * H", "cron.year", "'H'"),
        ("0 0 9 * * * twenty", "cron.year", "'twenty'"),
        ("0 0 0 29 2 * 2027", "cron.year", "no year of the expression"),
        ("61 * * * *", "cron.minute", "61 is outside 0-59"),
        ("* 24 * * *", "cron.hour", "24 is outside 0-23"),
        ("* * 0 * *", "cron.day-of-month", "0 is outside 1-31"),
        ("* * * 13 *", "cron.month", "13 is outside 1-12"),
        ("* * * * 8", "cron.day-of-week", "8 is outside 0-7"),
        ("60 * * * * *", "cron.second", "60 is outside 0-59"),
        ("*/61 * * * *", "cron.minute", "step 61"),
        ("*/0 * * * *", "cron.minute", "step 0"),
        ("*/x * * * *", "cron.minute", "not a whole number"),
        ("* 5-1 * * *", "cron.hour", "5-1 runs backwards"),
        ("* * * * fri-mon", "cron.day-of-week", "fri-mon runs backwards"),
        ("* * * foo *", "cron.month", "'foo'"),
        ("* * * * monday", "cron.day-of-week", "'monday'"),
        ("1,,2 * * * *", "cron.minute", "empty entry"),
        ("1- * * * *", "cron.minute", "missing"),
        ("-1 * * * *", "cron.minute", "missing"),
        ("1.5 * * * *", "cron.minute", "'1.5'"),
        ("? * * * *", "cron.minute", "'?'"),
        ("* * ?/2 * *", "cron.day-of-month", "'?'"),
        ("0 0 * * L", "cron.day-of-week", "weekday before it"),
        ("0 0 * * 1#6", "cron.day-of-week", "week 6, outside 1-5"),
        ("0 0 * * 1#0", "cron.day-of-week", "week 0, outside 1-5"),
        ("0 0 * * 9L", "cron.day-of-week", "9 is outside"),
        ("0 0 32W * *", "cron.day-of-month", "32 is outside"),
        ("0 0 L-31 * *", "cron.day-of-month", "31 days before"),
        ("0 0 L/2 * *", "cron.day-of-month", "'l'"),
        ("0 0 30 2 *", "cron.day-of-month", "no month in '2'"),
        ("0 0 31 4,6 *", "cron.day-of-month", "no month"),
        ("0 0 31W 2 *", "cron.day-of-month", "no month"),
        ("0 0 */30 2 1#2", "cron.day-of-month", "no month"),
        ("@every 5m", "cron", "interval"),
        ("@reboot", "cron", 'at_start="boot"'),
        ("@daily *", "cron", "not a known alias"),
        ("* * * *\x00 *", "cron", "control"),
        ("* * * *\n*", "cron", "control"),
        ("\u0661 * * * *", "cron", "non-ASCII"),
        ("\ud800 * * * *", "cron", "non-ASCII"),
        ("H(5-1) * * * *", "cron.minute", "runs backwards. For example: H(5-59) or H(0-1)"),
        ("0 22-2 * * *", "cron.hour", "22-2 runs backwards. For example: 22-23,0-2"),
        ("0 23-0 * * *", "cron.hour", "For example: 23,0"),
        ("0 22-2/2 * * *", "cron.hour", "For example: 22,0,2"),
        ("* * * nov-feb *", "cron.month", "For example: nov-dec,jan-feb"),
        ("* * * * fri-mon", "cron.day-of-week", "For example: fri-sat,sun-mon"),
        ("* * 28-3 * *", "cron.day-of-month", "For example: 28-31,1-3"),
        ("0 9 * * * 2026", "cron.day-of-week", "2026, a year"),
        ("0 9 * * * 2026", "cron.day-of-week", "Write 7 fields: 0 0 9 * * * 2026"),
        ("0 9 * * ? 2026-2027", "cron.day-of-week", 'use dialect="aws"'),
        ("0 10 ? * MON-FRI *", "cron.hour", 'use dialect="aws"'),
        ("0 0 9 ? * 2-6 2026", "cron", 'use dialect="quartz"'),
        ("TZ=Europe/Rome 0 9 * * *", "cron", 'Write "0 9 * * *" with tz="Europe/Rome"'),
        ("CRON_TZ=UTC 0 9 * * *", "cron", 'with tz="UTC"'),
        ("H(5) * * * *", "cron.minute", "without a range"),
        ("H/61 * * * *", "cron.minute", "step '61'"),
        ("H(0-9)/11 * * * *", "cron.minute", "step '11'"),
        ("H(0-60) * * * *", "cron.minute", "60 is outside"),
    ],
)
def test_refused_with_field_and_reason(expr, field, reason):
    with pytest.raises(InvalidTrigger) as caught:
        Cron(expr)
    assert caught.value.field == field
    assert reason in str(caught.value)
    assert caught.value.hint


def test_an_interval_is_sent_to_every():
    with pytest.raises(InvalidTrigger, match="Use Every"):
        Cron("@every 5m")


@pytest.mark.parametrize("text", ["* " * 600_000, "1," * 200 + "1 * * * *", "9" * 257, "(" * 10**6])
def test_an_oversized_expression_is_not_even_read(text, monkeypatch):
    monkeypatch.setattr("tickwell.domain.cron.item.read_items", None)
    with pytest.raises(InvalidTrigger, match="256 at most"):
        Cron(text)


@pytest.mark.parametrize("given", [None, 5, b"* * * * *", ["*"]])
def test_only_a_string_is_an_expression(given):
    with pytest.raises(InvalidTrigger, match="is a string"):
        Cron(given)


@pytest.mark.parametrize(
    "zone",
    [
        *("", "Nowhere", "Europe", "../etc/passwd", "/etc/localtime", "localtime", "right/UTC"),
        *("posix/UTC", "Europe/Rome\x00", "x" * 10**6, "Europe/Rome/", "europe/rome", None, 5),
    ],
)
def test_an_unknown_zone_is_refused(zone):
    with pytest.raises(InvalidTrigger) as caught:
        Cron("* * * * *", zone)
    assert caught.value.field == "tz"
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("europe/rome", "Europe/Rome"), ("rome", "Rome"), ("New York", "America/New_York")],
)
def test_a_zone_misspelt_is_suggested(typed, meant):
    with pytest.raises(InvalidTrigger, match=f"Did you mean .*{meant}"):
        Cron("* * * * *", typed)


def test_words_for_the_clock_changes_are_checked():
    with pytest.raises(
        InvalidTrigger, match=r"dst_gap: cannot be 'run'\. Choose one of shift, skip"
    ):
        Cron("* * * * *", dst_gap="run")  # type: ignore[arg-type]
    with pytest.raises(InvalidTrigger, match="dst_fold"):
        Cron("* * * * *", dst_fold="twice")  # type: ignore[arg-type]


def test_equal_expressions_share_one_parsed_object():
    assert parse("0  9 * * mon-fri") is parse("0 9 * * mon-fri")
    assert Cron("0 9 * * *", "Europe/Rome")._rule is Cron("0 9 * * *")._rule


@pytest.mark.parametrize(
    ("dialect", "expr", "field", "reason"),
    [
        ("quartz", "0 9 ? * 2-6", "cron", "5 fields; Quartz has 6 or 7"),
        ("aws", "0 9 ? * 2-6", "cron", "5 fields; EventBridge has 6"),
        ("celery", "0 0 9 * * 1", "cron", "6 fields; Celery has 5"),
        ("quartz", "0 0 9 1 * 2", "cron.day-of-week", "takes one of day-of-month and day-of-week"),
        ("aws", "0 9 ? * 0 *", "cron.day-of-week", "0 is outside 1-7, where 1 is Sunday"),
        ("celery", "0 9 * * 7", "cron.day-of-week", "7 is outside 0-6, where 0 is Sunday"),
        ("celery", "5/10 9 * * *", "cron.minute", "step without a range"),
        ("celery", "0 9 L * *", "cron.day-of-month", "'l'"),
        ("celery", "0 9 ? * *", "cron.day-of-month", "'?'"),
        ("aws", "0 9 29 2 ? 2027", "cron.year", "no year"),
        ("aws", "0 9 1 1 ? 2030-2027", "cron.year", "runs backwards"),
        ("aws", "0 9 1 1 ? 1066", "cron.year", "outside 1970-2199"),
        ("aws", "0 9 1 1 ? 2027/0", "cron.year", "step '0'"),
        ("quartz", "0 0 9 ? * SAT-MON/9", "cron.day-of-week", "step '9'"),
        ("windows", "0 9 * * *", "dialect", "cannot be 'windows'"),
        ("aws", 5, "cron", "is a string"),
    ],
)
def test_refused_in_other_dialects(dialect, expr, field, reason):
    with pytest.raises(InvalidTrigger) as caught:
        Cron(expr, dialect=dialect)
    assert caught.value.field == field
    assert reason in str(caught.value)
