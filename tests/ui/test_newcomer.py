"""What somebody meets who is here for the first time."""

import html
import json

from tests.ui.house import OWNER, WORKER
from tickwell.clock import to_datetime
from tickwell.domain import change
from tickwell.domain.execution import OutcomeKind, State
from tickwell.domain.planning import plan
from tickwell.domain.trigger.moment import to_text
from tickwell.ui.draft import Draft
from tickwell.ui.form_parse import from_fields
from tickwell.ui.formatting import ago

HOUR, MINUTE = 3_600_000, 60_000
PASSWORD = "a few words of my own"
URL = {"url": "https://example.com/hook"}
HOOK = {"name": "hook", "trigger": {"every": "1h"}, "target": {"http": URL}}


async def test_a_form_that_nobody_has_touched_finds_no_fault(house):
    page = await (await house.login()).see("/jobs/new")
    assert [tag for tag in page.tags if tag[1].get("role") == "alert"] == []
    assert [tag for tag in page.tags if tag[1].get("class") == "banner bad"] == []
    assert "At 09:00 every day" in page.text


async def test_a_form_finds_fault_only_with_what_somebody_has_begun(house):
    browser = await house.login()
    document = {
        "name": "",
        "trigger": {"cron": "0 9 * * *"},
        "target": {"http": {"url": "https://"}},
    }

    async def faults(path, **fields):
        given = {"trigger": "cron", "cron": "0 9 * * *", "target": "http", "url": "https://"}
        typed = {"document": json.dumps(document), "name": ""} | given | fields
        page = browser.read(await browser.post(path, **typed))
        return [found["id"] for _, found in page.tags if found.get("role") == "alert"]

    await browser.see("/jobs/new")
    assert await faults("/jobs/preview", name="report") == []
    assert await faults("/jobs/preview", cron="61 9 * * *") == ["cron-error"]
    assert await faults("/jobs/preview", url="https://exa mple") == ["url-error"]
    assert await faults("/jobs/preview", target="call", handler="") == []
    assert await faults("/jobs/save", name="report") == ["url-error"]
    assert await faults("/jobs/save", url="https://example.com") == ["name-error"]


async def test_a_job_without_history_has_no_figures_and_a_command_that_works(house):
    id = await house.add("from page; now")
    browser = await house.login()
    page = await browser.see(f"/jobs/{id}")
    assert "tickwell jobs trigger 'from page; now'" in page.text
    assert "median duration" not in page.text
    await house.run(id)
    page = await browser.see(f"/jobs/{id}")
    assert "100.0 %of the latest 1 succeeded" in page.text
    assert ("median duration" in page.text, "95th percentile" in page.text) == (True, True)


async def test_empty_pages_carry_the_command_that_fills_them(house):
    browser = await house.login()
    for path in ("/", "/timeline", "/calendar", "/jobs"):
        assert "tickwell jobs add ping --every 5m" in (await browser.see(path)).text, path


async def test_the_slots_of_a_new_job_begin_with_it(house):
    """Not a day before: nobody missed what was due when there was no job."""
    id = await house.add("young", trigger={"every": "1h"})
    page = await (await house.login()).see(f"/jobs/{id}/slots")
    assert "Backfill 2" not in page.text  # 23 or 24 hours


async def test_the_slots_of_a_job_for_a_moment_that_was_just_over_have_that_moment(house):
    at = to_text(to_datetime(house.clock.now() - MINUTE))
    id = await house.add("late", trigger={"once": at}, misfire={"grace": "1h"})
    page = await (await house.login()).see(f"/jobs/{id}/slots")
    assert ("1due so far" in page.text, "No fire time" in page.text) == (True, False)


async def test_a_job_that_fires_no_more_says_which_way_it_is(house):
    browser = await house.login()
    id = await house.add("asked")
    assert "It runs only when triggered." in (await browser.see(f"/jobs/{id}")).text
    pause = change.pause("user:ada", "because")
    await house.store.change_jobs("default", [id], pause, house.clock.now())
    assert "It is paused until resumed." in (await browser.see(f"/jobs/{id}")).text


async def test_a_job_that_counts_from_the_end_of_a_run_under_way_fires_again(house):
    id = await house.add("chain", trigger={"every": "1h", "after": "finish"})
    later = house.clock.now() + 2 * HOUR
    await house.store.fire_due(later, 0, 1, lambda job, cursor: plan(job, cursor, later, 0))
    page = await (await house.login()).see(f"/jobs/{id}")
    assert "Next fire time not known yet" in page.text
    assert "No scheduled fires" not in page.text


async def test_a_dead_letter_says_why_it_is_not_tried_again(house):
    id = await house.add("frail", retry={"max_attempts": 3})
    dead = await house.run(id, OutcomeKind.FAILED, error="HTTP 410: gone", retry=False)
    page = await (await house.login()).see(f"/executions/{dead}")
    assert "HTTP 410: goneNo more retries: not to be retried." in page.text


async def test_whoever_came_by_a_link_is_urged_to_set_a_password(house):
    urge = "You have no password yet"
    browser = await house.login()
    assert urge in (await browser.see("/")).text
    assert "Current password" not in (await browser.see("/settings")).text
    answer = await browser.post("/settings/password", new=PASSWORD)
    assert answer.status_code == 303, answer.text
    browser = await house.login()
    assert urge not in (await browser.see("/")).text
    assert "Current password" in (await browser.see("/settings")).text


async def test_a_pause_names_the_key_that_asked_for_it(house):
    made = await house.admin.keys.list(OWNER)
    [(key, _)] = made
    id = await house.add("held")
    pause = change.pause(f"key:{key.id}", "a holiday")
    await house.store.change_jobs("default", [id], pause, house.clock.now())
    browser = await house.login()
    page = await browser.see(f"/jobs/{id}")
    assert f"Paused by key '{key.name}' " in page.text
    await house.admin.keys.revoke(OWNER, key.id)
    assert f"Paused by key:{key.id} " in (await browser.see(f"/jobs/{id}")).text


async def test_only_a_job_that_no_person_paused_needs_attention(house):
    browser = await house.login()
    for name, by in (("meant", "user:ada"), ("failing", "policy"), ("left-out", "app shop")):
        id = await house.add(name)
        pause = change.pause(by, "because")
        await house.store.change_jobs("default", [id], pause, house.clock.now())
    text = (await browser.see("/")).text
    found = {name: f"{name} is paused" in text for name in ("meant", "failing", "left-out")}
    assert found == {"meant": False, "failing": True, "left-out": True}


async def test_a_parked_execution_says_why(house):
    id = await house.add("train", target={"call": {"handler": "train_recommender"}})
    execution = await house.context.operations.executions.trigger(OWNER, id)
    now = house.clock.now()
    await house.store.promote(now, 0, 1000)
    live = {State.WAITING, State.QUEUED}
    then = "no live worker serves queue 'default'"
    assert await house.store.settle([execution.id], live, State.PARKED, then, now) != []
    browser = await house.login()
    assert then in (await browser.see("/")).text
    await house.store.beat(WORKER, now)
    text = (await browser.see("/")).text
    assert "no live worker knows handler 'train_recommender'" in text
    assert then not in text


async def test_the_page_of_a_job_names_a_handler_that_no_live_worker_has(house):
    id = await house.add("train", target={"call": {"handler": "train_recommender"}})
    text = html.unescape((await (await house.login()).see(f"/jobs/{id}")).text)
    assert "no live worker serves queue 'default'; executions wait until one does" in text


async def test_secrets_are_offered_by_name_to_those_who_may_list_them(house):
    await house.admin.secrets.set(OWNER, "shop-token", "canary-of-a-secret")
    page = await (await house.login()).see("/jobs/new")
    offered = [found["value"] for tag, found in page.tags if tag == "option" and "value" in found]
    assert "{{secret.shop-token}}" in offered
    assert "canary" not in html.unescape(page.source)


def test_the_form_has_timeout_token_and_signature_of_a_webhook():
    typed = {"timeout": "10s", "bearer": "{{secret.t}}", "sign_with": "{{secret.a}}, {{secret.b}}"}
    draft = from_fields(Draft(HOOK), Draft(HOOK).fields() | typed)
    http = draft.document["target"]["http"]
    assert http == {
        **URL,
        "timeout": "10s",
        "auth": {"bearer": {"token": "{{secret.t}}"}},
        "sign_with": ["{{secret.a}}", "{{secret.b}}"],
    }
    assert draft.job() is not None
    assert {name: draft.fields()[name] for name in typed} == typed
    emptied = from_fields(draft, draft.fields() | dict.fromkeys(typed, ""))
    assert emptied.document == HOOK


def test_another_authorization_than_a_token_outlives_the_form():
    basic = {"basic": {"user": "ada", "password": "{{secret.p}}"}}
    document = HOOK | {"target": {"http": URL | {"auth": basic}}}
    assert from_fields(Draft(document), Draft(document).fields()).document == document


def test_what_comes_is_told_in_two_units():
    assert ago(HOUR + 28 * MINUTE, 0) == "in 1 h 28 min"
    assert ago(2 * HOUR, 0) == "in 2 h"
    assert ago(50 * HOUR, 0) == "in 2 d 2 h"
    assert ago(90_000, 0) == "in 1 min"
    assert ago(0, HOUR + 28 * MINUTE) == "1 h ago"
