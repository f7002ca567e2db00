"""Executions and dead letters: see what went wrong, and set it right."""

import asyncio
import re

from playwright.async_api import expect


async def test_the_list_narrows_by_state_and_leads_to_one(page, site):
    await page.goto(f"{site.url}/executions")
    await page.get_by_role("link", name="dead", exact=True).click()
    await expect(page.locator("tbody .badge").first).to_have_text("dead")
    await page.locator("tbody tr").last.get_by_role("link").first.click()
    await expect(page.get_by_role("heading", name="Attempts")).to_be_visible()


async def test_attempts_are_told_one_by_one(page, site):
    await page.goto(f"{site.url}/executions/{site.ids['stumbled']}")
    rows = page.locator("tbody tr")
    await expect(rows).to_have_count(3)
    await expect(rows.locator(".badge")).to_have_text(["failed"] * 3)
    await expect(page.locator(".banner.bad")).to_contain_text("no answer within 30 s")


async def test_a_request_can_be_copied_as_curl(window, site):
    visitor = await window(site)
    await visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = await visitor.open(f"/executions/{site.ids['called']}")
    await page.get_by_label("curl command").get_by_role("button", name="Copy").click()
    await expect(page.locator(".toast")).to_have_text("Copied")
    copied = await page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("curl -X GET ")
    assert "/healthz" in copied


async def test_a_running_one_is_cancelled_before_ones_eyes(page, site):
    site.add("held-here", target={"call": {"handler": "holds"}})
    id = site.run("held-here", {"running"}).id
    await page.goto(f"{site.url}/executions/{id}")
    await expect(page.locator("h1 + .badge")).to_have_text("running")
    page.once("dialog", lambda dialog: dialog.accept())
    await page.get_by_role("button", name="Cancel").click()
    await expect(page.locator("h1 + .badge")).to_have_text("cancelled")


async def test_a_dead_one_is_revived_under_its_id_or_repeated_with_another_payload(page, site):
    site.add("frail", target={"call": {"handler": "breaks"}}, retry={"max_attempts": 1})
    id = site.run("frail", payload={"what": "frail: no"}).id
    await page.goto(f"{site.url}/executions/{id}")
    await page.get_by_role("button", name="Revive").click()
    await expect(page.locator(".toast")).to_have_text("Revived")
    await expect(page.locator("tbody tr")).to_have_count(2)
    await page.get_by_role("link", name="Repeat with payload…").click()
    await page.get_by_role("dialog").get_by_label("Payload").fill('{"what": "frail: still no"}')
    await page.get_by_role("button", name="Repeat").click()
    await expect(page.locator(".banner.bad")).to_contain_text("still no")
    await expect(page.get_by_text("Repeats")).to_be_visible()
    assert not page.url.endswith(id)


async def test_a_group_of_dead_letters_is_revived_with_progress(page, site):
    site.add("sick", target={"call": {"handler": "breaks"}}, retry={"max_attempts": 1})
    ids = [site.run("sick", payload={"what": "a sick thing"}).id for _ in range(4)]
    await page.goto(f"{site.url}/dead")
    await page.get_by_label("Search in errors").press_sequentially("sick thing")
    row = page.locator("tbody tr")
    await expect(row).to_have_count(1)
    await expect(row).to_contain_text("ConnectionError: a sick thing")
    await page.get_by_role("link", name="Revive all…").click()
    await page.get_by_label("Maximum per second").fill("1000")
    async with page.expect_navigation(url=re.compile("revival=")):
        await page.get_by_role("dialog").get_by_role("button", name="Revive", exact=True).click()
    await expect(page.locator("#revival [role=status]")).to_contain_text("Revived 4 of 4")
    await expect(page.get_by_role("progressbar", name="Revived")).to_have_attribute("value", "4")
    for id in ids:
        assert site.until(id, {"dead"}).attempt == 2


async def test_a_group_is_revived_by_its_row_after_a_question(page, site):
    site.add("ill", target={"call": {"handler": "breaks"}}, retry={"max_attempts": 1})
    ids = [site.run("ill", payload={"what": "an ill thing"}).id for _ in range(2)]
    await page.goto(f"{site.url}/dead?q=an+ill+thing")
    asked = []

    async def agree(dialog):
        asked.append(dialog.message)
        await dialog.accept()

    page.once("dialog", agree)
    async with page.expect_navigation(url=re.compile("revival=")):
        await page.get_by_role("button", name="Revive 2…").click()
    assert asked == ["Revive 2, 10 per second?"]
    await expect(page.locator("#revival [role=status]")).to_contain_text("Revived 2 of 2")
    assert [site.until(id, {"dead"}).attempt for id in ids] == [2, 2]


async def test_an_address_leads_to_a_dialog_that_goes_away_again(page, site):
    await page.goto(f"{site.url}/dead?q=upstream")
    await page.get_by_role("link", name="Revive with options…").click()
    await expect(page.get_by_role("dialog", name="Revive 1 dead letter")).to_be_visible()
    await page.get_by_role("link", name="Cancel").click()
    await expect(page.get_by_role("dialog")).to_be_hidden()


async def test_a_queue_is_paused_and_resumed(page, site):
    site.post("/queues/later-on/pause")
    await page.goto(f"{site.url}/workers")
    row = page.locator("tr", has=page.get_by_role("link", name="later-on"))
    await row.get_by_role("button", name="Resume").click()
    await expect(page.locator(".toast")).to_have_text("Resumed queue later-on")
    await expect(page.get_by_role("link", name="later-on")).to_have_count(0)
    await page.wait_for_load_state()
    row = page.locator("tr", has=page.get_by_role("link", name="default", exact=True))
    page.once("dialog", lambda dialog: dialog.dismiss())
    await row.get_by_role("button", name="Pause").click()
    await expect(row.locator(".badge")).to_have_text("active")


async def test_a_running_one_is_watched_line_by_line(page, site):
    site.add("chatty", target={"call": {"handler": "talks"}}, timeout={"soft": "1h", "hard": "2h"})
    id = site.run("chatty", {"running"}).id
    address = f"{site.url}/executions/{id}"
    await page.goto(address)
    log = page.locator("#log-1")
    await expect(log).to_contain_text("No output yet")
    await expect(page.locator("[data-since]")).to_have_text(re.compile(r"^\d+ s$"))
    await expect(page.locator("#progress")).to_contain_text("Soft timeout")
    # The page is loaded anew every 5 s, which would hide a log that vanishes in between.
    await page.route(address, lambda route: route.fulfill(status=204))
    site.tell("the very first line")
    await expect(log.locator("pre")).to_have_text("INFO the very first line")
    # It follows the end …
    site.tell(*(f"line {number}" for number in range(100)))
    await expect(log.locator("pre")).to_contain_text("line 99")
    left = "box => box.scrollHeight - box.scrollTop - box.clientHeight"
    assert await log.locator("pre").evaluate(left) < 40
    # … unless its reader scrolled up.
    await log.locator("pre").evaluate("box => { box.scrollTop = 0; }")
    site.tell("one more")
    await expect(log.locator("pre")).to_contain_text("one more")
    assert await log.locator("pre").evaluate("box => box.scrollTop") == 0
    await page.unroute(address)
    site.tell(None)
    await expect(page.locator("h1 + .badge")).to_have_text("succeeded")
    await expect(log).to_contain_text("what it printed and logged")
    await expect(log.locator("pre")).to_contain_text("one more")


async def test_lines_that_come_after_the_end_of_the_run_are_not_shown_twice(page, site):
    site.add("slow-log", target={"call": {"handler": "talks"}})
    id = site.run("slow-log", {"running"}).id
    held, ended = asyncio.Event(), asyncio.Event()

    async def hold(route):
        response = await route.fetch()
        held.set()
        await ended.wait()
        await route.fulfill(response=response)

    await page.route("**/log?*", hold, times=1)
    await page.goto(f"{site.url}/executions/{id}")
    await page.evaluate(
        """() => { window.taken = new Promise((taken) => {
            document.addEventListener("htmx:afterOnLoad", (event) => {
                if (event.detail.requestConfig.path.includes("/log?")) taken();
            });
        }); }"""
    )
    async with asyncio.timeout(60):
        await held.wait()
        site.tell("its only line", None)
        await expect(page.locator("h1 + .badge")).to_have_text("succeeded")
        ended.set()
        await page.evaluate("window.taken")
    await expect(page.locator("#log-1")).to_have_count(1)
    await expect(page.locator("#log-1 pre")).to_have_text("INFO its only line")


async def test_every_attempt_shows_its_own_response(page, site):
    await page.goto(f"{site.url}/executions/{site.ids['called']}")
    response = page.locator("#response-1")
    await expect(response.locator("dl")).to_contain_text("content-type", ignore_case=True)
    await expect(page.locator("td[data-label=Status]")).to_have_text("200")


async def test_why_one_stands_still_is_said_in_words(page, site):
    dead = site.run("gives-up", {"dead"}).id
    await page.goto(f"{site.url}/executions/{dead}")
    await expect(page.locator(".banner.bad")).to_contain_text("gave up: the account is closed")
    site.add("rated", rate="1/1h")
    site.run("rated")
    waiting = site.run("rated", {"waiting", "blocked"}).id
    await page.goto(f"{site.url}/executions/{waiting}")
    await expect(page.locator(".banner.info")).to_contain_text("its rate limit is used up")
