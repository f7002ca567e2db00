"""What a rule may say, and when a job is missing."""

from datetime import UTC, datetime

import pytest

from tickwell.domain.alert import BUILT_IN, Condition, Rule
from tickwell.domain.policy import HOUR, MINUTE
from tickwell.errors import InvalidInput


def rule(condition, **fields):
    return Rule(id="r", condition=Condition(condition), **fields)


def at(text):
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


@pytest.mark.parametrize(
    ("condition", "fields", "words"),
    [
        ("missing", {"after": 25 * HOUR}, "no success for 1d1h"),
        ("missing", {"by": "06:00", "tz": "Europe/Rome"}, "no success by 06:00 (Europe/Rome)"),
        ("late", {"after": 5 * MINUTE}, "not started after 5m"),
        ("slow", {"after": 10 * MINUTE}, "runs longer than 10m"),
        ("failing", {"times": 1}, "died"),
        ("failing", {"times": 3}, "died 3 times in a row"),
        ("skipped", {"times": 2}, "skipped 2 times in a row"),
    ],
)
def test_rules_of_jobs(condition, fields, words):
    made = rule(condition, **fields)
    made.check()
    assert made.words == words
    assert Rule.from_document("r", made.to_document()) == made


@pytest.mark.parametrize(
    ("condition", "fields", "field"),
    [
        ("missing", {}, "after"),
        ("missing", {"after": 14_999}, "after"),
        ("missing", {"after": HOUR, "by": "06:00"}, "by"),
        ("missing", {"by": "6"}, "by"),
        ("missing", {"by": "24:00"}, "by"),
        ("missing", {"by": "06:00", "tz": "Rome"}, "tz"),
        ("late", {}, "after"),
        ("late", {"by": "06:00"}, "by"),
        ("slow", {"after": HOUR, "times": 2}, "times"),
        ("failing", {}, "times"),
        ("failing", {"times": 0}, "times"),
        ("failing", {"times": 101}, "times"),
        ("skipped", {"times": 3, "after": HOUR}, "after"),
        ("late", {"after": HOUR, "repeat": 59_999}, "repeat"),
        ("planner", {}, "condition"),
    ],
)
def test_what_is_refused_names_its_field(condition, fields, field):
    with pytest.raises(InvalidInput) as caught:
        rule(condition, **fields).check()
    assert caught.value.field == field


def test_built_in_rules_have_a_name_each_and_words():
    assert [each.id for each in BUILT_IN] == [
        "monitors",
        "planner",
        "workers",
        "failure-rate",
        "backlog",
        "held",
        "dead-letters",
    ]
    assert all(each.words and each.is_built_in for each in BUILT_IN)


@pytest.mark.parametrize(
    ("succeeded", "due"),
    [
        ("2026-06-15T02:00", "2026-06-16T06:00"),  # the run of this night is good until tomorrow's
        ("2026-06-15T05:59", "2026-06-16T06:00"),
        ("2026-06-15T06:00", "2026-06-16T06:00"),
        ("2026-06-15T06:01", "2026-06-17T06:00"),  # counts for tomorrow already
    ],
)
def test_by_a_time_of_day_means_once_between_two_of_them(succeeded, due):
    assert rule("missing", by="06:00").due(at(succeeded)) == at(due)


def test_a_time_of_day_follows_its_zone():
    # Rome is two hours ahead in summer, one in winter: the clock changes on 25 October.
    by = rule("missing", by="06:00", tz="Europe/Rome")
    assert by.due(at("2026-06-15T02:00")) == at("2026-06-16T04:00")
    assert by.due(at("2026-10-24T02:00")) == at("2026-10-25T05:00")
