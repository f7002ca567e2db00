"""What the form has no fields for is the document's, and stays whatever is typed into the form."""

import json

import pytest

from tickwell.ui.draft import OTHER, Draft, from_fields

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
