"""What the form has no fields for is the document's, and stays whatever is typed into the form."""

import html
import json
import re

import pytest

from tickwell.ui.draft import Draft
from tickwell.ui.form_fields import OTHER
from tickwell.ui.form_parse import from_fields

CALL, HOURLY = {"call": {"handler": "x"}}, {"every": "1h"}


@pytest.mark.parametrize(
    "trigger",
    [
        {"any_of": [{"cron": "0 8 * * *"}, {"every": "6h"}], "jitter": "5s"},
        {"calendar_every": {"months": 2}, "anchor": "2026-01-31T09:00:00", "tz": "Europe/Rome"},
        {"every": "1h", "after": "finish"},
        {"cron": "0 9 * * *", "dst_fold": "both", "within": [{"days": "mon"}]},
        {"on_demand": True},
    ],
)
@pytest.mark.parametrize("target", [CALL, {"telegram": {"to": "me"}}])
def test_the_form_changes_what_was_typed_and_nothing_else(trigger, target):
    document = {"name": "a", "trigger": trigger, "target": target}
    before = Draft(json.loads(json.dumps(document)))
    draft = from_fields(before, before.fields() | {"description": "typed"})
    assert draft.document == document | {"description": "typed"}


@pytest.mark.parametrize(
    "fields",
    [
        {"retry": {"max_attempts": 5, "delay": "5s", "cap": "1h"}},
        {"tags": ["a,b", "c"], "description": " two  lines\nof it "},
        {"payload": None, "overlap": "skip", "queue": "default"},
        {"payload": "", "misfire": {"policy": "all", "cap": 3}},
        {"target": {"http": {"url": "https://a.example", "timeout": "5s", "headers": {"a": " b"}}}},
        {"target": {"http": {"url": "https://a.example", "auth": {"basic": {"user": "u"}}}}},
        {"trigger": "not right yet", "target": {"http": ["neither"]}, "tags": "a"},
    ],
)
def test_so_does_what_it_would_write_in_another_way(fields):
    document = {"name": " a", "trigger": HOURLY, "target": CALL} | fields
    before = Draft(json.loads(json.dumps(document)))
    # As a browser sends them: a field of one line has no ends of lines, others have two signs.
    sent = {name: text.replace("\n", "\r\n") for name, text in before.fields().items()}
    sent["description"] = sent["description"].replace("\r\n", "")
    assert from_fields(before, sent).document == document


def test_another_kind_can_be_chosen_instead():
    before = Draft({"name": "a", "trigger": {"any_of": [HOURLY]}, "target": {"telegram": {}}})
    fields = before.fields()
    assert (fields["trigger"], fields["target"]) == (OTHER, OTHER)
    draft = from_fields(before, fields | {"trigger": "every", "target": "call"})
    assert draft.document["trigger"] == {"every": "5m"}
    assert draft.document["target"] == {"call": {"handler": ""}}


async def test_the_editor_offers_the_kind_that_the_document_has(house):
    both = {"any_of": [{"cron": "0 8 * * *"}, {"every": "6h"}]}
    job = await house.add("both", trigger=both)
    browser = await house.login()
    page = await browser.see(f"/jobs/{job}/edit")
    chosen = [
        each["value"] for _, each in page.tags if each.get("type") == "radio" and "checked" in each
    ]
    assert chosen == [OTHER, "call"]
    fields = {
        each["name"]: each.get("value", "")
        for tag, each in page.tags
        if tag == "input" and each.get("type") not in {"radio", "checkbox"} and "name" in each
    }
    document = json.dumps({"name": "both", "trigger": both, "target": CALL})
    typed = {"trigger": OTHER, "target": "call", "document": document, "tags": "money"}
    answer = await browser.post("/jobs/save", **fields | typed)
    assert answer.status_code == 303, answer.text
    [entry] = await house.store.get_jobs("default", [job])
    assert (entry.job.tags, entry.job.trigger.explain().count(" or ")) == (("money",), 1)


async def preview(house, **typed):
    """The page that follows, by the texts of its fields."""
    browser = await house.login()
    await browser.see("/jobs/new")
    answer = await browser.post("/jobs/preview", **typed)
    page = browser.read(answer)
    texts = dict(re.findall(r'<textarea id="(\w+)"[^>]*>(.*?)</textarea>', page.source, re.DOTALL))
    return page, {name: html.unescape(text) for name, text in texts.items()}


async def test_a_payload_that_is_half_typed_is_not_lost_to_whoever_goes_on_elsewhere(house):
    document = json.dumps({"name": "a", "trigger": HOURLY, "target": CALL, "payload": {"old": 1}})
    form = {"trigger": "every", "target": "call", "payload": '{"new": ', "tags": "b"}
    page, texts = await preview(house, side="form", document=document, **form)
    assert texts["payload"] == '{"new": '
    assert json.loads(texts["document"]) == json.loads(document) | {"tags": ["b"]}
    assert "payload-error" in [
        each.get("id") for _, each in page.tags if each.get("role") == "alert"
    ]


async def test_neither_side_is_lost_while_the_document_is_half_typed(house):
    form = {"trigger": "every", "target": "call", "name": "mine", "every": "7m", "payload": "[1]"}
    page, texts = await preview(house, side="form", document='{"name": "mi', **form)
    assert (texts["document"], texts["payload"]) == ('{"name": "mi', "[1]")
    shown = {each["name"]: each.get("value") for _, each in page.tags if "name" in each}
    assert (shown["name"], shown["every"]) == ("mine", "7m")
    alerts = [each["id"] for _, each in page.tags if each.get("role") == "alert"]
    assert alerts == ["document-error"]


async def test_without_scripts_somebody_says_that_the_document_was_typed(house):
    job = await house.add("plain", trigger={"every": "1h"})
    browser = await house.login()
    page = await browser.see(f"/jobs/{job}/edit")
    assert ("input", {"type": "checkbox", "name": "side", "value": "document"}) in page.tags
    document = {
        "name": "plain",
        "trigger": {"every": "2h"},
        "target": {"call": {"handler": "x"}},
    }
    form = {"id": job, "trigger": "every", "every": "1h", "target": "call", "handler": "x"}
    typed = form | {"document": json.dumps(document), "side": ["form", "document"]}
    answer = await browser.post("/jobs/save", **typed)
    assert answer.status_code == 303, answer.text
    assert "Every 2 hours" in (await browser.see(f"/jobs/{job}")).text


async def test_the_editor_lists_every_mistake(house):
    browser = await house.login()
    await browser.see("/jobs/new")
    document = {
        "name": "",
        "trigger": {"cron": "61 * * * *", "tz": "Nowhere"},
        "target": {"http": {"url": "ftp://example.com"}},
        "priority": 50,
    }
    answer = await browser.post("/jobs/save", side="document", document=json.dumps(document))
    assert answer.status_code == 422
    listed = set(re.findall(r"<p><code>([a-z.]+)</code>: ", answer.text))
    assert listed == {"name", "trigger.cron.minute", "trigger.tz", "target.http.url", "priority"}
