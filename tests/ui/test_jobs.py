"""The list of jobs, one job, and its slots: find, choose, act."""

import re

import pytest
from playwright.async_api import expect

from tests.ui.site import Site
from tickwell import OnDemand
from tickwell.declared.internals import internals
from tickwell.domain.job import Job
from tickwell.domain.target import Call

MANY = 5000


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """A site with 5,000 jobs that never fire."""
    with Site(tmp_path_factory.mktemp("crowd")) as found:
        jobs = [
            Job(id="", name=f"crowd-{n:04}", trigger=OnDemand(), target=Call("works"))
            for n in range(MANY)
        ]
        found.call(internals(found.scheduler).jobs.add_many(jobs))
        yield found


def states(site, names):
    return {site.get(f"/jobs/{name}")["state"] for name in names}


async def test_results_come_as_one_types_among_5000_jobs(window, crowd):
    page = await (await window(crowd)).open("/jobs")
    await expect(page.locator("tbody tr")).to_have_count(50)
    await page.get_by_label("Filter by name").press_sequentially("crowd-0777")
    await expect(page.locator("tbody tr")).to_have_count(1)
    await expect(page.locator("tbody a.name")).to_have_text("crowd-0777")
    await expect(page).to_have_url(re.compile(r"q=crowd-0777"))
    await expect(page.get_by_label("Filter by name")).to_be_focused()
    await page.reload()
    await expect(page.locator("tbody tr")).to_have_count(1)
    await page.go_back()  # not through all that was typed
    assert page.url == "about:blank"


async def test_a_page_leads_to_the_next_one(window, crowd):
    page = await (await window(crowd)).open("/jobs")
    await page.get_by_role("link", name="Next page").click()
    await expect(page.locator("tbody a.name").first).to_have_text("crowd-0050")


async def test_all_that_match_are_paused_and_resumed(window, crowd):
    page = await (await window(crowd)).open("/jobs?q=crowd-3")
    await choose_all(page, 1000)
    await page.get_by_role("button", name="Pause").click()
    await expect(page.locator(".toast")).to_contain_text("1,000 of 1,000 jobs paused")
    assert states(crowd, ["crowd-3000", "crowd-3999"]) == {"paused"}
    assert states(crowd, ["crowd-2999"]) == {"active"}
    await choose_all(page, 1000)
    await page.get_by_role("button", name="Resume").click()
    await expect(page.locator(".toast")).to_contain_text("1,000 of 1,000 jobs resumed")
    assert states(crowd, ["crowd-3000", "crowd-3999"]) == {"active"}


async def test_what_was_done_to_many_is_undone_and_only_that(window, crowd):
    crowd.post("/jobs/crowd-4000/pause", note="before")
    page = await (await window(crowd)).open("/jobs?q=crowd-4")
    await choose_all(page, 1000)
    await page.get_by_role("button", name="Pause").click()
    await expect(page.locator(".toast")).to_contain_text("999 of 999 jobs paused")
    await page.get_by_role("button", name="Undo").click()
    await expect(page.locator(".toast")).to_contain_text("999 jobs restored")
    assert states(crowd, ["crowd-4001", "crowd-4999"]) == {"active"}
    assert states(crowd, ["crowd-4000"]) == {"paused"}
    await page.wait_for_load_state()
    await page.get_by_label("Select crowd-4000").check()
    await page.get_by_role("button", name="Resume").click()
    await expect(page.locator(".toast")).to_contain_text("1 of 1 jobs resumed")
    await page.get_by_role("button", name="Undo").click()
    await expect(page.locator(".toast")).to_contain_text("1 job restored")
    assert crowd.get("/jobs/crowd-4000")["pause"]["why"] == "before"


async def choose_all(page, total):
    """All that match the view, on every page."""
    await page.wait_for_load_state()
    await page.get_by_label("Select all on this page").check()
    await expect(page.locator("[data-count]")).to_have_text("50 selected")
    await page.get_by_label(f"all {total:,} matching jobs on all pages").check()


async def test_all_that_match_are_no_longer_meant_when_one_mark_is_taken_away(window, crowd):
    page = await (await window(crowd)).open("/jobs?q=crowd-2")
    await choose_all(page, 1000)
    await page.get_by_label("Select crowd-2000").uncheck()
    await expect(page.locator("[data-count]")).to_have_text("49 selected")
    page.once("dialog", lambda dialog: dialog.accept())
    await page.get_by_role("button", name="Trigger").click()
    await expect(page.locator(".toast")).to_contain_text("49 of 49 jobs triggered")


async def test_the_selection_is_triggered_and_deleted(window, site):
    for name in ("chosen-1", "chosen-2", "chosen-not"):
        site.add(name)
    page = await (await window(site)).open("/jobs?q=chosen")
    asked = []
    page.on("dialog", lambda dialog: asked.append(dialog.message))
    page.on("dialog", lambda dialog: dialog.accept())
    for name in ("chosen-1", "chosen-2"):
        await page.get_by_label(f"Select {name}").check()
    await page.get_by_role("button", name="Trigger").click()
    await expect(page.locator(".toast")).to_contain_text("2 of 2 jobs triggered")
    await page.wait_for_load_state()
    for name in ("chosen-1", "chosen-2"):
        await page.get_by_label(f"Select {name}").check()
    await page.get_by_role("button", name="Delete").click()
    await expect(page.locator(".toast")).to_contain_text("2 of 2 jobs deleted")
    assert asked == [
        "2 selected: run these jobs now?",
        "2 selected: delete these jobs? Their history stays until it is pruned.",
    ]
    await expect(page.locator("tbody a.name")).to_have_text(["chosen-not"])


async def test_enter_on_a_mark_opens_the_row_and_presses_no_button(window, site):
    site.add("marked")
    page = await (await window(site)).open("/jobs?q=marked")
    await page.keyboard.press("j")
    await page.get_by_label("Select marked").check()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text("marked")
    assert site.get("/jobs/marked")["state"] == "active"


async def test_without_scripts_there_are_no_marks(window, site):
    site.add("unmarked")
    page = await (await window(site, scripts=False)).open("/jobs?q=unmarked")
    await expect(page.locator("tbody a.name")).to_have_text(["unmarked"])
    await expect(page.locator("[name=ids]")).to_be_hidden()
    await expect(page.locator("[data-all]")).to_be_hidden()


async def test_a_question_that_is_denied_changes_nothing(window, site):
    site.add("kept")
    page = await (await window(site)).open("/jobs/kept")
    page.once("dialog", lambda dialog: dialog.dismiss())
    await page.get_by_role("button", name="Delete").click()
    await expect(page).to_have_url(f"{site.url}/jobs/kept")
    assert states(site, ["kept"]) == {"active"}


async def test_the_soonest_come_first_where_somebody_likes(window, site):
    page = await (await window(site)).open("/jobs")
    await page.get_by_role("link", name="Next fire").click()
    names = page.locator("tbody a.name")
    await expect(names.first).to_have_text("heartbeat")
    await expect(names.last).to_have_text("new-year")
    await expect(page.get_by_role("columnheader", name="Next fire")).to_have_attribute(
        "aria-sort", "ascending"
    )


async def test_facets_narrow_and_are_taken_back(window, site):
    page = await (await window(site)).open("/jobs")
    await page.get_by_role("link", name="reports").first.click()
    await expect(page.locator("tbody a.name")).to_have_text(["nightly", "payday"])
    chosen = page.get_by_role("link", name="tag: reports")
    await chosen.click()
    await expect(chosen).to_have_count(0)
    await page.get_by_role("link", name="paused").click()
    await expect(page.locator("tbody a.name")).to_have_text(["stopped"])
    await expect(page.get_by_role("link", name="paused", exact=True)).to_have_attribute(
        "aria-current", "true"
    )


async def test_one_of_the_next_fires_is_skipped_and_that_is_undone(window, site):
    site.add("rare", trigger={"every": "1h"})
    page = await (await window(site)).open("/jobs/rare")
    fires = page.locator("table.fires tbody tr")
    await fires.nth(1).get_by_role("button", name="Skip").click()
    await expect(page.locator(".toast")).to_contain_text("Skipped rare at")
    await expect(fires.nth(1).locator(".badge")).to_have_text("skipped")
    await expect(fires.nth(0).locator(".badge")).to_have_count(0)
    await fires.nth(1).get_by_role("button", name="Undo").click()
    await expect(page.locator(".toast")).to_contain_text("rare fires at")
    await expect(page.locator("table.fires .badge")).to_have_count(0)


async def test_a_job_is_paused_with_a_reason_resumed_run_and_deleted(window, site):
    site.add("handled", trigger={"every": "1h"})
    page = await (await window(site)).open("/jobs/handled")
    await page.get_by_role("link", name="Pause…").click()
    await page.get_by_label("Reason").fill("while the cat sleeps")
    await page.get_by_label("Duration").fill("2h")
    await page.get_by_role("dialog").get_by_role("button", name="Pause").click()
    await expect(page.locator(".banner")).to_contain_text("while the cat sleeps. It resumes in 1 h")
    await page.get_by_role("button", name="Resume").click()
    await expect(page.locator(".toast")).to_contain_text("Resumed handled")
    await page.get_by_role("link", name="Trigger…").click()
    await page.get_by_role("dialog").get_by_label("Payload").fill('{"customer": 42}')
    await page.get_by_role("button", name="Run now").click()
    await expect(page.locator("h1 + .badge")).to_have_text("succeeded")
    await expect(page.get_by_label("Result")).to_contain_text("42")
    await page.get_by_role("link", name="handled").click()
    await expect(page.locator("h1")).to_have_text("handled")
    await page.wait_for_load_state()
    page.once("dialog", lambda dialog: dialog.accept())
    await page.get_by_role("button", name="Delete").click()
    await expect(page.locator(".toast")).to_contain_text("Deleted handled")


async def test_what_is_pressed_twice_is_sent_once_and_again_by_whoever_comes_back(window, site):
    site.add("twice")
    page = await (await window(site)).open("/jobs/twice")
    await page.wait_for_load_state()
    sent = await page.evaluate("""() => {
        let sent = 0;
        document.addEventListener("submit", (event) => { sent += 1; event.preventDefault(); });
        const form = document.querySelector("#trigger-dialog form");
        const press = () => { form.requestSubmit(); form.requestSubmit(); return sent; };
        const found = [press(), press()];
        window.dispatchEvent(new Event("pageshow"));
        return [...found, press()];
    }""")
    assert sent == [1, 1, 2]


async def test_slots_say_why_and_a_backfill_runs_them(window, site):
    site.add("behind", trigger={"every": "1h"}, misfire={"policy": "skip"})
    page = await (await window(site)).open("/jobs/behind/slots")
    await page.get_by_label("From").fill("2026-01-01T00:00")
    await page.get_by_label("Until").fill("2026-01-01T06:00")
    await page.get_by_role("button", name="Show").click()
    await expect(page).to_have_url(re.compile("2026-01-01T06"))
    await page.wait_for_load_state()
    await expect(page.get_by_label("From")).to_have_value("2026-01-01T00:00")
    asked = []
    page.on("dialog", lambda dialog: asked.append(dialog.message))
    page.on("dialog", lambda dialog: dialog.accept())
    await page.get_by_role("button", name="Backfill 6 slots").click()
    await expect(page.locator(".toast")).to_contain_text("6 slots are running, 0 had already run")
    await expect(page.locator("tbody .badge")).to_have_count(6)
    assert asked == ["Run 6 slots now?"]
