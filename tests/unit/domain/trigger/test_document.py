"""The document form: canonical, exact there and back, errors by path."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from tickwell.domain.trigger import (
    Calendar,
    CalendarEvery,
    Cron,
    Every,
    Once,
    OnDemand,
    Window,
    trigger_from_document,
    trigger_to_document,
)
from tickwell.errors import InvalidTrigger

DOCUMENTS: list[dict[str, Any]] = [
    {"cron": "0 9 * * mon-fri"},
    {"cron": "0 9 * * mon-fri", "tz": "Europe/Rome", "dst_gap": "skip", "dst_fold": "last"},
    {"cron": "H H(0-5) * * *", "max_runs": 3, "jitter": "30s"},
    {"every": "5m"},
    {"every": "5m", "after": "finish"},
    {"every": "1h30m", "phase": "10s"},
    {"calendar_every": {"months": 2}, "anchor": "2026-01-31T09:00:00", "tz": "Europe/Rome"},
    {"calendar_every": {"years": 1, "days": 3}, "anchor": "2026-01-31T09:00:30"},
    {"once": "2026-11-15T09:00:00.000Z"},
    {"once": "2026-11-15T09:00:00.123Z"},
    {"on_demand": True},
    {"any_of": [{"cron": "0 9 * * *"}, {"every": "1d"}], "until": "2030-01-01T00:00:00.000Z"},
    {"any_of": [{"any_of": [{"every": "1h"}], "start": "2026-01-01T00:00:00.000Z"}]},
    {"all_of": [{"cron": "0 9 * * mon"}, {"cron": "0 9 1-7 * *"}], "max_runs": 3},
    {"all_of": [{"any_of": [{"every": "1h"}, {"every": "25m"}]}, {"every": "20m"}]},
    {
        "cron": "0 9 1 * *",
        "tz": "Europe/Rome",
        "business_days": {
            "shift": "previous",
            "holidays": [{"name": "it", "dates": ["2026-12-25"]}],
            "weekend": "sun",
        },
    },
    {
        "calendar_every": {"months": 1},
        "anchor": "2026-01-31T09:00:00",
        "business_days": {"shift": "next"},
    },
    {"cron": "0 0 9 * * * 2027-2029", "tz": "Europe/Rome"},
    {
        "cron": "*/5 * * * *",
        "start": "2026-01-01T00:00:00.000Z",
        "until": "2026-12-31T23:59:59.999Z",
        "max_runs": 10,
        "within": [
            {"days": "mon-fri", "from": "09:00", "to": "17:00", "tz": "Europe/Rome"},
            {"days": "sat", "from": "22:00", "to": "02:00"},
        ],
        "exclude": [
            {"name": "holidays", "dates": ["2026-12-25", "2026-12-26"], "tz": "Europe/Rome"},
            {"name": "freeze", "ranges": [{"from": "2026-12-28", "to": "2026-12-31"}]},
        ],
        "jitter": "1m30s",
    },
]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_there_and_back(document):
    trigger = trigger_from_document(document)
    assert trigger_to_document(trigger) == document
    assert list(trigger_to_document(trigger)) == list(document)
    assert trigger_from_document(json.loads(json.dumps(document))) == trigger


@pytest.mark.parametrize(
    ("document", "trigger"),
    [
        ({"cron": "0 9 * * *", "tz": "UTC", "dst_gap": "shift"}, Cron("0 9 * * *")),
        ({"cron": "  0   9 * * * "}, Cron("0 9 * * *")),
        ({"every": "PT5M", "after": "fire", "max_runs": None}, Every("5m")),
        ({"once": "2026-11-15T10:00:00+01:00"}, Once(datetime(2026, 11, 15, 9, tzinfo=UTC))),
        ({"on_demand": True, "within": []}, OnDemand()),
        ({"any_of": [{"every": "1h"}, {"any_of": [{"every": "2h"}]}]}, Every("1h") | Every("2h")),
        (
            {"calendar_every": {"days": 1}, "anchor": "2026-01-31T08:00:00Z", "tz": "Europe/Rome"},
            CalendarEvery(days=1, anchor=datetime(2026, 1, 31, 8, tzinfo=UTC), tz="Europe/Rome"),
        ),
        ({"every": "1h", "within": [{"days": "mon"}]}, Every("1h", within=(Window("mon"),))),
        (
            {"every": "1h", "exclude": [{"name": "x", "dates": ["2026-01-01"]}]},
            Every("1h", exclude=(Calendar("x", ["2026-01-01"]),)),
        ),
    ],
)
def test_other_ways_to_say_the_same(document, trigger):
    assert trigger_from_document(document) == trigger


@pytest.mark.parametrize(
    ("document", "field"),
    [
        (None, ""),
        ([], ""),
        ("0 9 * * *", ""),
        ({}, ""),
        ({"tz": "UTC"}, ""),
        ({"cron": None}, ""),
        ({"cron": "* * * * *", "every": "5m"}, ""),
        ({"cron": 5}, "cron"),
        ({"cron": "61 * * * *"}, "cron.minute"),
        ({"cron": "* * * * *", "timezone": "UTC"}, "timezone"),
        ({"cron": "* * * * *", "phase": "1s"}, "phase"),
        ({"cron": "* * * * *", "tz": 5}, "tz"),
        ({"cron": "* * * * *", "tz": "Nowhere"}, "tz"),
        ({"cron": "* * * * *", "dst_gap": "no"}, "dst_gap"),
        ({"every": 300}, "every"),
        ({"every": "soon"}, "every"),
        ({"every": "5m", "after": "end"}, "after"),
        ({"every": "5m", "after": 1}, "after"),
        ({"every": "5m", "phase": "x"}, "phase"),
        ({"every": "5m", "tz": "UTC"}, "tz"),
        ({"calendar_every": "2 months", "anchor": "2026-01-01T00:00:00"}, "calendar_every"),
        ({"calendar_every": {"months": "2"}, "anchor": "2026-01-01"}, "calendar_every.months"),
        ({"calendar_every": {"hours": 2}, "anchor": "2026-01-01"}, "calendar_every.hours"),
        ({"calendar_every": {"months": 2}}, "anchor"),
        ({"calendar_every": {"months": 2}, "anchor": "soon"}, "anchor"),
        ({"once": "2026-11-15T09:00:00"}, "once"),
        ({"once": "2026-11-15T23:59:60Z"}, "once"),
        ({"once": "tomorrow"}, "once"),
        ({"once": 5}, "once"),
        ({"on_demand": "yes"}, "on_demand"),
        ({"on_demand": 1}, "on_demand"),
        ({"any_of": {}}, "any_of"),
        ({"any_of": []}, "any_of"),
        ({"any_of": [5]}, "any_of.0"),
        ({"any_of": [{"every": "1h"}, {"cron": "* 25 * * *"}]}, "any_of.1.cron.hour"),
        ({"any_of": [{"any_of": [{"once": "x"}]}]}, "any_of.0.any_of.0.once"),
        ({"all_of": []}, "all_of"),
        ({"cron": "0 9 * * *", "business_days": "next"}, "business_days"),
        ({"cron": "0 9 * * *", "business_days": {"shift": "later"}}, "business_days.shift"),
        ({"cron": "0 9 * * *", "business_days": {"weekend": "*"}}, "business_days.weekend"),
        ({"cron": "0 9 * * *", "business_days": {"weekend": "x"}}, "business_days.weekend"),
        ({"cron": "0 9 * * *", "business_days": {"holidays": [1]}}, "business_days.holidays.0"),
        (
            {"cron": "0 9 * * *", "business_days": {"holidays": [{"name": "x", "dates": ["y"]}]}},
            "business_days.holidays.0.dates",
        ),
        (
            {
                "cron": "0 9 * * *",
                "business_days": {
                    "holidays": [
                        {"name": "x", "ranges": [{"from": "2027-07-01", "to": "2027-08-01"}]}
                    ]
                },
            },
            "business_days.holidays",
        ),
        (
            {
                "cron": "0 9 * * *",
                "business_days": {
                    "holidays": [{"name": "x", "dates": ["2027-07-01"], "tz": "Asia/Tokyo"}]
                },
            },
            "business_days.holidays",
        ),
        ({"every": "5m", "business_days": {"shift": "next"}}, "business_days"),
        ({"all_of": [{"every": "1h"}, {"on_demand": True}]}, "all_of"),
        ({"all_of": [{"every": "1h"}, {"every": "1h", "after": "finish"}]}, "all_of"),
        ({"all_of": [{"every": "1h"}, {"every": "1h", "jitter": "1s"}]}, "all_of"),
        ({"all_of": [{"cron": "H 9 * * *"}, {"every": "1h"}]}, "all_of"),
        ({"all_of": [{"cron": "0 9 * * *"}, {"cron": "0 10 * * *"}]}, "all_of"),
        ({"all_of": [{"cron": "0 0 1 1 *"}, {"once": "2026-05-01T00:00:00Z"}]}, "all_of"),
        ({"all_of": [{"all_of": [{"cron": "x"}], "max_runs": 1}]}, "all_of.0.all_of.0.cron"),
        ({"every": "5m", "start": "2026-01-01"}, "start"),
        ({"every": "5m", "until": 7}, "until"),
        ({"every": "5m", "max_runs": "3"}, "max_runs"),
        ({"every": "5m", "max_runs": True}, "max_runs"),
        ({"every": "5m", "max_runs": 0}, "max_runs"),
        ({"every": "5m", "jitter": 5}, "jitter"),
        ({"every": "5m", "within": {}}, "within"),
        ({"every": "5m", "within": ["mon"]}, "within.0"),
        ({"every": "5m", "within": [{"days": "mon"}, {"days": "xyz"}]}, "within.1.days"),
        ({"every": "5m", "within": [{"from": "25:00"}]}, "within.0.from"),
        ({"every": "5m", "within": [{"day": "mon"}]}, "within.0.day"),
        ({"every": "5m", "within": [{"tz": 1}]}, "within.0.tz"),
        ({"every": "5m", "exclude": [{"dates": ["2026-01-01"]}]}, "exclude.0.name"),
        ({"every": "5m", "exclude": [{"name": "x", "dates": "2026-01-01"}]}, "exclude.0.dates"),
        ({"every": "5m", "exclude": [{"name": "x", "dates": [5]}]}, "exclude.0.dates"),
        ({"every": "5m", "exclude": [{"name": "x", "ranges": [[]]}]}, "exclude.0.ranges.0"),
        (
            {"every": "5m", "exclude": [{"name": "x", "ranges": [{"from": 1}]}]},
            "exclude.0.ranges.0.from",
        ),
        ({"every": "5m", 5: 1}, "5"),
    ],
)
def test_what_is_wrong_is_named_by_its_path(document, field):
    with pytest.raises(InvalidTrigger) as caught:
        trigger_from_document(document)
    assert caught.value.field == field
    assert caught.value.hint or field in ("any_of", "all_of", "exclude.0.ranges")


def test_an_unknown_field_is_told_the_known_ones():
    with pytest.raises(
        InvalidTrigger, match=r"timezone: unknown field\. The fields here are cron, dialect, tz"
    ):
        trigger_from_document({"cron": "* * * * *", "timezone": "Europe/Rome"})


def test_a_deep_union_is_refused_before_the_stack_ends():
    document: dict[str, Any] = {"every": "1h"}
    for _ in range(10_000):
        document = {"any_of": [document]}
    with pytest.raises(InvalidTrigger, match="nested more than"):
        trigger_from_document(document)
