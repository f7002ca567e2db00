"""Phrases: what is understood, and the answer to what is not."""

import re

import pytest

from tickwell import BusinessDays, Cron, Every, when
from tickwell.domain.trigger import trigger_from_document, trigger_to_document
from tickwell.domain.trigger.phrase import FORMS
from tickwell.errors import InvalidTrigger


@pytest.mark.parametrize(
    ("phrase", "trigger"),
    [
        ("every 15 minutes", Every("15m")),
        ("every minute", Every("1m")),
        ("every 2 hours", Every("2h")),
        ("Every 30 seconds", Every("30s")),
        ("every day at 9", Cron("0 9 * * *")),
        ("daily at 9 am", Cron("0 9 * * *")),
        ("every day at 12am", Cron("0 0 * * *")),
        ("every day at 12 pm", Cron("0 12 * * *")),
        ("every day at midnight and noon", Cron("0 0,12 * * *")),
        ("every day at 9, 12 and 18", Cron("0 9,12,18 * * *")),
        ("every day at 9, 12, and 18", Cron("0 9,12,18 * * *")),
        (
            "every day at 9:30 and 17:45 in Rome",
            Cron("30 9 * * *", "Europe/Rome") | Cron("45 17 * * *", "Europe/Rome"),
        ),
        ("every weekday at 9 in Rome", Cron("0 9 * * 1-5", "Europe/Rome")),
        ("on weekdays at 9 in europe/rome", Cron("0 9 * * 1-5", "Europe/Rome")),
        ("every weekend at 23:59", Cron("59 23 * * 0,6")),
        ("every monday at 6 pm in New York.", Cron("0 18 * * 1", "America/New_York")),
        ("weekly on sunday at 6", Cron("0 6 * * 0")),
        ("on mondays, tuesdays and sundays at 6", Cron("0 6 * * 0,1,2")),
        ("every friday to monday at 6", Cron("0 6 * * 0,1,5,6")),
        ("every month on the 1st and 15th at 8", Cron("0 8 1,15 * *")),
        ("monthly on 3 at 8", Cron("0 8 3 * *")),
        ("every month on the last day at 8", Cron("0 8 L * *")),
        ("every month on the last weekday at 8", Cron("0 8 LW * *")),
        ("every month on the first monday and the last friday at 8", Cron("0 8 * * 1#1,5L")),
        ("every year on 25 december at noon", Cron("0 12 25 12 *")),
        ("yearly on the 1st of may at 7", Cron("0 7 1 5 *")),
        ("every year on july 4th at 7 in UTC", Cron("0 7 4 7 *")),
    ],
)
def test_a_phrase_stands_for_a_trigger(phrase, trigger):
    assert when(phrase) == trigger
    read = trigger_from_document({"when": phrase})
    assert read == trigger
    assert trigger_from_document(trigger_to_document(read)) == read


@pytest.mark.parametrize("form", FORMS)
def test_each_form_that_errors_name_is_understood(form):
    assert when(form).explain()


@pytest.mark.parametrize(
    ("phrase", "reason", "nearest"),
    [
        ("every weekdy at 9", "not a known form", "every weekday at 9"),
        ("every weekday", "has no time of day", "every weekday at 9"),
        ("every other day at 9", "not a known form", "every day at 9"),
        ("every 2 days at 9", "not a known form", "every day at 9"),
        ("every 15 minutes in Rome", "neither a time of day nor a zone", "every 15 minutes"),
        ("every day at 25", "'25' is no time of day", "every day at 9"),
        ("every day at 13 pm", "'13 pm' is no time of day", "every day at 9"),
        ("every day at 9:60", "'9:60' is no time of day", "every day at 9"),
        ("every day at teatime", "'teatime' is no time of day", "every day at 9"),
        ("every day at 9 in Atlantis", "no time zone is named after 'Atlantis'", "every day at 9"),
        ("every month on the 32nd at 9", "32 is no day of a month", "every month"),
        ("every month on the 1st and first monday at 9", "make it two triggers", "every month"),
        ("every year on 30 february at 9", "no month in '2' ever has a day", ""),
        ("", "not a known form", ""),
        ("0 9 * * *", "not a known form", ""),
        ("every" * 50, "200 at most", ""),
    ],
)
def test_anything_else_is_refused_with_the_nearest_form(phrase, reason, nearest):
    with pytest.raises(InvalidTrigger) as caught:
        when(phrase)
    assert reason in caught.value.reason
    assert nearest in caught.value.hint
    assert caught.value.hint
    assert caught.value.field == "when"
    form = re.search(r'understood: "(.*)"', caught.value.hint)
    assert form is None or form[1] in FORMS


def test_options_fit_the_trigger_that_it_stands_for():
    assert when("every day at 9", tz="Europe/Rome", dst_gap="skip", jitter="5s") == Cron(
        "0 9 * * *", "Europe/Rome", dst_gap="skip", jitter="5s"
    )
    days = BusinessDays("previous")
    both = when("every day at 9 and 9:30", business_days=days, max_runs=3)
    assert both.max_runs == 3
    assert all(each.business_days == days for each in both.single() if isinstance(each, Cron))
    with pytest.raises(InvalidTrigger, match="names a zone, Europe/Rome"):
        when("every day at 9 in Rome", tz="UTC")
    with pytest.raises(InvalidTrigger, match="no time of day"):
        when("every hour", tz="UTC")
    with pytest.raises(InvalidTrigger, match="is a string"):
        when(5)  # type: ignore[arg-type]
