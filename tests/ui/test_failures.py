"""Pages that say what went wrong, in a person's words, and give back what was typed."""

import pytest

from tests.ui.house import HOST
from tickwell.domain.execution import OutcomeKind
from tickwell.errors import StoreUnavailable
from tickwell.ui.formatting import sentence

TYPED = '{"customer": <b>7</b>'


def fields_of(page):
    """The form of a page that can be sent again, by the names of its fields."""
    hidden = {each["name"]: each["value"] for tag, each in page.tags if tag == "input"}
    texts = {each["name"] for tag, each in page.tags if tag == "textarea"}
    return hidden, texts


@pytest.mark.parametrize(
    ("path", "status", "title"),
    [
        ("/nowhere", 404, "Page not found"),
        ("/jobs/nothing", 404, "Not found"),
        ("/executions?state=odd", 422, "Invalid input"),
        ("/timeline?at=odd", 422, "Invalid input"),
    ],
)
async def test_a_title_says_what_happened(house, path, status, title):
    browser = await house.login()
    answer = await browser.get(path)
    assert answer.status_code == status
    assert f"<h1>{title}</h1>" in answer.text


@pytest.mark.parametrize("is_logged_in", [True, False])
async def test_a_store_that_does_not_answer_is_not_named(house, monkeypatch, is_logged_in):
    browser = await house.login() if is_logged_in else house.browser()
    if not is_logged_in:  # whoever it is cannot be told from a member now
        browser.http.cookies.set("tickwell", "k" * 43, domain=HOST)

    async def refuse(*_):
        raise StoreUnavailable("postgresql://db.internal:5432/jobs does not answer (Errno 111)")

    monkeypatch.setattr(house.store, "get_record", refuse)
    answer = await browser.get("/jobs")
    assert answer.status_code == 503
    assert "The store does not answer" in answer.text
    assert "Nothing is lost. Try again in a moment." in answer.text
    assert "db.internal" not in answer.text


async def test_a_payload_that_is_no_json_is_corrected_where_it_was_refused(house):
    job = await house.add("report")
    browser = await house.login()
    await browser.see(f"/jobs/{job}")
    answer = await browser.post(f"/jobs/{job}/trigger", payload=TYPED)
    assert answer.status_code == 422
    page = browser.read(answer)
    assert page.forms == {f"/jobs/{job}/trigger"}
    assert TYPED in page.text
    hidden, texts = fields_of(page)
    assert (hidden, texts) == ({"csrf": browser.token}, {"payload"})
    again = await browser.post(f"/jobs/{job}/trigger", **hidden | {"payload": "{}"})
    assert again.headers["location"].startswith("/executions/")


async def test_so_are_how_long_to_pause_and_the_payload_of_a_revival(house):
    job = await house.add("report")
    dead = await house.run(job, OutcomeKind.FAILED, error="no")
    browser = await house.login()
    await browser.see(f"/jobs/{job}")
    answer = await browser.post(f"/jobs/{job}/pause", why="it is <late>", how_long="for ever")
    hidden, texts = fields_of(browser.read(answer))
    assert (hidden["why"], texts) == ("it is <late>", {"how_long"})
    answer = await browser.post(f"/executions/{dead}/revive", payload=TYPED)
    assert TYPED in browser.read(answer).text
    too_long = await browser.post(f"/jobs/{job}/pause", why="w" * 501)
    assert "Nothing was changed. Why: " in browser.read(too_long).text
    assert (await house.store.get_jobs("default", [job]))[0].cursor.pause is None


async def test_a_form_of_a_session_that_ended_says_so_and_keeps_what_was_typed(house):
    job = await house.add("report")
    browser, referer = await house.login(), {"referer": f"http://tickwell.test/jobs/{job}"}
    await browser.see(f"/jobs/{job}")
    await house.admin.sessions.end(browser.http.cookies["tickwell"])
    page = browser.read(await browser.post(f"/jobs/{job}/trigger", referer, payload=TYPED))
    assert "You are logged out" in page.text
    assert f"payload: {TYPED}" in page.text
    assert f"/login?next=/jobs/{job}" in page.links
    assert browser.token not in page.source
    anew = await house.login()
    browser.http.cookies.set("tickwell", anew.http.cookies["tickwell"], domain="tickwell.test")
    page = browser.read(await browser.post(f"/jobs/{job}/trigger", referer, payload=TYPED))
    assert "You have logged in again" in page.text
    assert f"payload: {TYPED}" in page.text
    assert page.forms == set()


async def test_nothing_is_repeated_of_another_site_or_of_a_form_with_secrets(house):
    job = await house.add("report")
    browser = await house.login()
    await browser.see(f"/jobs/{job}")
    foreign = {"origin": "https://evil.example"}
    answer = await browser.post(f"/jobs/{job}/trigger", foreign, payload=TYPED)
    assert (answer.status_code, "customer" in answer.text) == (401, False)
    assert "Request from another site" in answer.text
    answer = await browser.post("/settings/secrets", name="not a name", value="hunter2")
    assert (answer.status_code, "hunter2" in answer.text) == (422, False)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://example.com/hook cannot be called", "https://example.com/hook cannot be called"),
        ("example.com is refused", "example.com is refused"),
        ("trigger.cron: is missing", "trigger.cron: is missing"),
        ("is missing. Add it", "Is missing. Add it"),
        ("name: is missing", "Name: is missing"),
        ("gone.", "Gone."),
    ],
)
def test_only_words_get_a_capital_letter(text, shown):
    assert sentence(text) == shown


async def test_a_url_stays_as_it_is_on_an_error_page(house):
    id = await house.add("https://example.com/a")
    browser = await house.login()
    await browser.get("/jobs")
    await browser.post(f"/jobs/{id}/delete")
    answer = await browser.post(f"/jobs/{id}/pause", how_long="")
    assert answer.status_code == 404
    assert "Https" not in answer.text


async def test_losses_are_shown_apart_from_attempts(house):
    await house.add("taken", retry={"max_attempts": 5, "max_losses": 7})
    id = await house.run("taken", OutcomeKind.LOST)
    browser = await house.login()
    shown = " ".join((await browser.see(f"/executions/{id}")).text.split())
    assert "Attempts1 (0 charged of 5)" in shown
    assert "Losses1 (1 charged of 7)" in shown
    for list_page in ("/executions", "/jobs/taken"):
        assert "1 1 lost" in " ".join((await browser.see(list_page)).text.split())
