"""The page of the job document says what is read, and all of it."""

import json
import tomllib
from dataclasses import fields
from datetime import datetime

import pytest

from tests.docs import pages
from tickwell.domain.document import job_from_document
from tickwell.domain.document.initial_state import FIELDS, initial_state
from tickwell.domain.gate import Concurrency
from tickwell.domain.http import Http
from tickwell.domain.job import Job
from tickwell.domain.policy import Misfire, Retention, Retry, Timeout
from tickwell.domain.trigger import CustomTrigger, Trigger, trigger_from_document

TEXT = pages.text_of("document")
DOCUMENTS = [json.loads(block) for block in pages.blocks(TEXT, "json")] + [
    tomllib.loads(block) for block in pages.blocks(TEXT, "toml")
]
NAMED = {each["name"]: each for each in DOCUMENTS}
TRIGGERS = [span for span in sorted(pages.spans(TEXT)) if span.startswith("{") and "…" not in span]
POLICIES = {
    "retry": Retry,
    "misfire": Misfire,
    "concurrency": Concurrency,
    "timeout": Timeout,
    "retention": Retention,
}


class FullMoon(CustomTrigger, name="tides.full_moon"):
    """The one that the page of triggers defines."""

    hours: int

    def next_fire(self, after: datetime) -> datetime | None:
        first = after.replace(month=1, day=1, hour=self.hours, minute=0, second=0, microsecond=0)
        return first.replace(year=after.year + (first <= after))


def names(record):
    return {field.name for field in fields(record)}


@pytest.mark.parametrize("name", NAMED)
def test_documents_are_read(name):
    document = {name: value for name, value in NAMED[name].items() if name not in FIELDS}
    job_from_document({**document, "id": ""})
    assert initial_state(NAMED[name]).stated is (document != NAMED[name])


@pytest.mark.parametrize("trigger", TRIGGERS)
def test_triggers_are_read(trigger):
    trigger_from_document(json.loads(trigger))


def test_every_field_of_a_job_is_there():
    added = set(pages.spans(TEXT[TEXT.index("## What the service adds") :]))
    # Some exclude each other: a concurrency key and a rate, uniqueness and debounce.
    examples = ("all-policies", "rate-limited", "sync-customer", "index-document")
    assert {field for each in examples for field in NAMED[each]} == names(Job) - added


@pytest.mark.parametrize("policy", POLICIES)
def test_every_field_of_a_policy_is_there(policy):
    assert set(NAMED["all-policies"][policy]) == names(POLICIES[policy])


def test_every_field_of_a_webhook_is_there():
    # A body is said by its kind.
    assert set(NAMED["hook"]["target"]["http"]) == names(Http) - {"body"} | {"json"}


def test_every_option_of_a_trigger_is_there():
    options = {name for name in names(Trigger) if not name.startswith("_")}
    assert options <= set(NAMED["office-hours"]["trigger"])
