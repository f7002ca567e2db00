"""The job editor: form and document are one, what it would do is seen before it is saved."""

import asyncio
import json
import re

from playwright.async_api import expect


async def test_a_job_is_made_by_the_form(page, site):
    await page.goto(f"{site.url}/jobs/new")
    await page.get_by_label("Name", exact=True).fill("by-form")
    await page.get_by_label("Cron expression").fill("30 2 * * *")
    await page.get_by_label("Time zone").fill("Europe/Berlin")
    await page.get_by_label("URL").fill("https://example.com/hook")
    await page.get_by_label("Payload", exact=True).fill('{"customer": 7}')
    preview = page.locator("#preview")
    await expect(preview).to_contain_text("At 02:30 every day, Europe/Berlin")
    await expect(preview).to_contain_text("happens twice")
    await expect(preview.locator("tbody tr")).to_have_count(10)
    await expect(page.get_by_label("Document")).to_have_value(re.compile('"customer": 7'))
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("by-form")
    saved = site.get("/jobs/by-form")
    assert (saved["trigger"], saved["payload"]) == (
        {"cron": "30 2 * * *", "tz": "Europe/Berlin"},
        {"customer": 7},
    )


async def test_the_document_leads_the_form(page, site):
    await page.goto(f"{site.url}/jobs/new")
    document = {
        "name": "by-document",
        "trigger": {"every": "90s"},
        "target": {"call": {"handler": "works"}},
        "tags": ["a", "b"],
    }
    await page.get_by_label("Document").fill(json.dumps(document))
    await expect(page.get_by_label("Every", exact=True).last).to_have_value("90s")
    await expect(page.get_by_role("radio", name="Python handler")).to_be_checked()
    await expect(page.get_by_role("button", name="Send a test request")).to_be_hidden()
    await expect(page.get_by_label("Name", exact=True)).to_have_value("by-document")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("by-document")
    assert site.get("/jobs/by-document")["tags"] == ["a", "b"]


async def test_errors_stand_at_their_fields(window, site):
    visitor = await window(site)
    visitor.allowed.append("422 (Unprocessable")
    page = await visitor.open("/jobs/new")
    await page.get_by_label("Name", exact=True).fill("wrong")
    await page.get_by_label("Cron expression").fill("99 * * * *")
    cron = page.get_by_label("Cron expression")
    await expect(cron).to_have_attribute("aria-invalid", "true")
    await expect(page.locator("#cron-error")).to_contain_text("99")
    await expect(cron).to_be_focused()
    async with page.expect_navigation():
        await page.get_by_role("button", name="Save").click()
    await expect(page.locator("#cron-error")).to_contain_text("99")
    await page.get_by_label("Document").fill("{")
    await expect(page.locator("#document-error")).to_contain_text("is not JSON")


async def test_what_is_typed_before_the_scripts_are_there_counts(page, site):
    typed = asyncio.Event()

    async def hold(route):
        await typed.wait()
        await route.continue_()

    await page.route("**/*.js", hold)
    await page.goto(f"{site.url}/jobs/new", wait_until="commit")
    await page.get_by_label("Document").fill("{")
    typed.set()
    await expect(page.locator("#document-error")).to_contain_text("is not JSON")
    await expect(page.locator("[data-side]")).to_have_value("document")


async def test_a_change_is_shown_before_it_is_saved_and_a_conflict_is_refused(window, site):
    visitor = await window(site)
    visitor.allowed.append("422 (Unprocessable")
    job = site.add("contested", trigger={"every": "1h"})
    page = await visitor.open("/jobs/contested/edit")
    await expect(page.locator("#preview")).to_contain_text("No changes yet.")
    await page.get_by_label("Every", exact=True).last.fill("2h")
    await expect(page.locator(".diff .added")).to_contain_text('"every": "2h"')
    await expect(page.locator(".diff .removed")).to_contain_text('"every": "1h"')
    changed = site.http.patch(
        f"/api/v1/jobs/{job['id']}", json={"trigger": {"every": "3h"}}, headers={"if-match": "*"}
    )
    assert changed.status_code == 200, changed.text
    await page.get_by_role("button", name="Save").click()
    await expect(page.locator(".banner.bad")).to_contain_text("Version 2 was saved by someone else")
    await expect(page.locator(".diff .removed")).to_contain_text('"every": "3h"')
    assert site.get("/jobs/contested")["trigger"] == {"every": "3h"}
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("contested")
    assert site.get("/jobs/contested")["trigger"] == {"every": "2h"}


async def test_what_the_form_lacks_stays(page, site):
    site.add("rich", trigger={"every": "1h", "jitter": "10s"}, priority=9, expires="5m")
    await page.goto(f"{site.url}/jobs/rich/edit")
    await page.get_by_label("Every", exact=True).last.fill("2h")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("rich")
    saved = site.get("/jobs/rich")
    assert saved["trigger"] == {"every": "2h", "jitter": "10s"}
    assert (saved["priority"], saved["expires"]) == (9, "5m")


async def test_what_somebody_types_slowly_stays_as_it_is_typed(page, site):
    """Between two keys an answer comes that knows the field without its blank."""
    await page.goto(f"{site.url}/jobs/new")
    folded = "Retries, overlap, rate, condition, check-ins, uniqueness, queue, tags"
    await page.get_by_text(folded).click()
    texts = {"Cron expression": "0 9", "Headers": "a: ", "Payload": "[1", "Tags": "a, b"}
    for label, text in texts.items():
        box = page.get_by_label(label, exact=True)
        await box.fill("")
        for key in text:
            async with page.expect_response("**/jobs/preview"):
                await box.press_sequentially(key)
            await drawn(page)
        await expect(box).to_have_value(text)
    await page.get_by_label("Document").fill('{"name":"a","tags":["b"]}')
    await expect(page.get_by_label("Name", exact=True)).to_have_value("a")
    await expect(page.get_by_label("Document")).to_have_value('{"name":"a","tags":["b"]}')


async def test_whoever_leaves_by_a_slip_is_asked(page, site):
    await page.goto(f"{site.url}/jobs/new")
    leaves = "dispatchEvent(new Event('beforeunload', {cancelable: true}))"
    assert await page.evaluate(leaves) is True
    await page.get_by_label("Name", exact=True).fill("half")
    assert await page.evaluate(leaves) is False
    await page.get_by_role("link", name="Cancel").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Jobs")


async def drawn(page):
    """Wait until an answer that has come has found its place."""
    await expect(page.locator(".htmx-request, .htmx-swapping, .htmx-settling")).to_have_count(0)


async def test_a_celery_task_has_its_tab(page, site):
    await page.goto(f"{site.url}/jobs/new")
    await page.get_by_label("Name", exact=True).fill("by-celery")
    await page.get_by_text("Celery task", exact=True).click()
    await page.get_by_label("Task", exact=True).fill("shop.tasks.charge")
    await page.get_by_label("Celery queue").fill("billing")
    await page.get_by_label("Arguments", exact=True).fill("[7")
    await expect(page.locator("#args-error")).to_contain_text("is not JSON")
    await page.get_by_label("Arguments", exact=True).fill("[7]")
    await page.get_by_label("Keyword arguments").fill('{"currency": "EUR"}')
    await expect(page.get_by_label("Document")).to_have_value(re.compile('"currency": "EUR"'))
    await expect(page.locator("#args-error")).to_have_text("")
    await expect(page.locator("#editor")).to_contain_text("No live worker sends Celery tasks")
    await expect(page.get_by_role("button", name="Send a test request")).to_be_hidden()
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("by-celery")
    await expect(page.locator(".lead")).to_contain_text("Celery shop.tasks.charge on billing")
    assert site.get("/jobs/by-celery")["target"] == {
        "celery": {
            "task": "shop.tasks.charge",
            "args": [7],
            "kwargs": {"currency": "EUR"},
            "queue": "billing",
        }
    }
