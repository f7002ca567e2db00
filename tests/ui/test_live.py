"""Pages that live: they follow what happens, leave the visitor alone, and say when they cannot."""

import asyncio
import re
from types import SimpleNamespace
from typing import Any

import pytest
from playwright.async_api import expect
from starlette.requests import ClientDisconnect

from tests.ui.house import House
from tests.ui.site import Site, lively
from tickwell.clock import StoreClock
from tickwell.declared.internals import internals
from tickwell.domain.event import (
    AttemptsFinished,
    Events,
    Planned,
    Started,
    Stopped,
    WorkerLost,
)
from tickwell.errors import LimitReached
from tickwell.ui.live import MOST_OF_ONE, Hub, Stream

HIDE = """hidden => {
    Object.defineProperty(document, 'hidden', {get: () => hidden, configurable: true});
    document.dispatchEvent(new Event('visibilitychange'));
}"""


@pytest.fixture
def house(tmp_path):
    """A site of its own: it is taken down on the way."""
    site = Site(tmp_path, store=f"sqlite:///{tmp_path / 'jobs.db'}", declare=lively)
    with site:
        yield site


async def test_rows_change_and_focus_selection_and_scroll_stay(window, site):
    for n in range(40):
        site.add(f"stays-{n:02}")
    page = await (await window(site)).open("/jobs?q=stays")
    await page.get_by_label("Select stays-00").check()
    await page.get_by_label("Select stays-30").check()
    await page.get_by_label("Filter by name").focus()
    await page.evaluate("scrollTo(0, 500)")
    site.post("/jobs/stays-20/pause")
    row = page.locator("tr", has=page.get_by_role("link", name="stays-20"))
    await expect(row.locator(".badge")).to_have_text("paused")
    await expect(page.get_by_label("Filter by name")).to_be_focused()
    await expect(page.locator("[data-count]")).to_have_text("2 selected")
    await expect(page.get_by_label("Select stays-30")).to_be_checked()
    assert await page.evaluate("scrollY") == 500


async def test_an_execution_ends_before_ones_eyes(window, house):
    id = house.run("holds", {"running"}).id
    page = await (await window(house)).open(f"/executions/{id}")
    await expect(page.locator("h1 + .badge")).to_have_text("running")
    house.loop.call_soon_threadsafe(house.scheduler.held.set)
    await expect(page.locator("h1 + .badge")).to_have_text("succeeded")


async def test_a_hidden_tab_lets_go_of_the_stream(page):
    async with page.expect_response("**/live*"):
        await page.reload()
    async with page.expect_event("requestfailed", lambda each: "/live" in each.url):
        await page.evaluate(HIDE, True)
    async with (
        page.expect_request(lambda each: each.url.endswith("/live")),
        page.expect_response(re.compile(r"/$")),
    ):
        await page.evaluate(HIDE, False)
    await expect(page.locator("[data-live]")).to_be_hidden()


async def test_a_page_says_since_when_it_is_stale_and_recovers(window, house):
    visitor = await window(house)
    # Whatever a browser says of a server that goes away, perhaps in the midst of an answer.
    visitor.allowed += ["ERR_CONNECTION_", "ERR_INCOMPLETE_CHUNKED_ENCODING", "503", "htmx:"]
    page = await visitor.open("/executions")
    async with page.expect_response("**/live*"):
        await page.reload()
    house.__exit__()
    await expect(page.locator("[data-live]")).to_contain_text("Stale since")
    house.__enter__()
    await expect(page.locator("[data-live]")).to_be_hidden()
    house.run("works")
    await expect(page.locator("tbody tr")).not_to_have_count(0)


async def test_a_page_whose_parts_get_no_answer_for_ten_seconds_is_stale(window, house):
    """The stream is open, and the store does not answer."""
    visitor = await window(house)
    visitor.allowed += ["503", "htmx:"]
    await visitor.context.clock.install()
    page = await visitor.open("/executions")
    sign = page.locator("[data-live]")
    await expect(sign).to_be_hidden()
    away = re.compile(r"/executions")
    await page.route(away, lambda route: route.fulfill(status=503))
    async with page.expect_response(lambda each: each.status == 503):
        house.run("works")
    await page.clock.fast_forward(11_000)
    await expect(sign).to_contain_text("Stale since")
    await page.unroute(away)
    house.run("works")
    await expect(sign).to_be_hidden()


async def test_a_fire_time_that_no_planner_answered_is_overdue(window, house):
    engine = internals(house.scheduler).engine
    assert engine is not None
    house.loop.call_soon_threadsafe(engine._loops["planner"].stop)
    job = house.add("late", trigger={"every": "1s"})
    visitor = await window(house)
    for path in ("/", "/jobs", f"/jobs/{job['id']}"):
        page = await visitor.open(path)
        await expect(page.locator("time.overdue").first).to_contain_text("overdue for")


async def test_distances_go_by_the_clock_of_the_service(window, site):
    visitor = await window(site)
    await visitor.context.add_init_script("Date.now = () => performance.timeOrigin + 864e5")
    page = await visitor.open(f"/executions/{site.ids['later']}")
    await page.evaluate("document.dispatchEvent(new Event('htmx:afterSwap'))")
    await expect(page.locator(".facts .ago").first).to_have_text(re.compile("^in [0-9]+ min$"))


async def test_the_stream_of_a_session_that_ended_is_refused_and_leads_to_no_form(tmp_path):
    async with House(tmp_path) as house:
        browser = await house.login()
        await house.admin.sessions.end(browser.http.cookies["tickwell"])
        answer = await browser.get("/live", headers={"accept": "text/event-stream"})
        assert (answer.status_code, answer.headers.get("location")) == (401, None)


async def test_a_stream_of_which_nothing_is_read_is_not_counted(tmp_path):
    async with House(tmp_path) as house:
        browser = await house.login()
        answers = [await browser.http.head("/live") for _ in range(MOST_OF_ONE + 1)]
        assert {answer.status_code for answer in answers} == {200}


async def gladly():
    """Whoever listens may go on."""
    return True


async def test_a_stream_ends_with_its_session_and_no_other(tmp_path, monkeypatch):
    monkeypatch.setattr("tickwell.ui.live.LOOK", 0.01)
    async with House(tmp_path) as house:
        first, second = await house.login(), await house.login()
        await first.see("/")
        began = [asyncio.Event(), asyncio.Event()]
        ends, lasts = (
            asyncio.create_task(listen(house.app, browser, event))
            for browser, event in zip((first, second), began, strict=True)
        )
        async with asyncio.timeout(60):
            for event in began:
                await event.wait()
            assert (await first.post("/logout")).status_code == 303
            assert b"retry" in await ends
        assert not lasts.done()
        lasts.cancel()


async def listen(app, browser, began):
    """All that a stream says until it ends."""
    said = bytearray()
    cookie = f"tickwell={browser.http.cookies['tickwell']}"
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/live",
        "scheme": "http",
        "query_string": b"",
        "headers": [(b"host", b"tickwell.test"), (b"cookie", cookie.encode())],
        "client": ("127.0.0.1", 1),
    }

    async def receive():
        await asyncio.Event().wait()

    async def send(message):
        said.extend(message.get("body", b""))
        began.set()

    await app(scope, receive, send)
    return bytes(said)


async def test_who_left_before_the_first_word_has_left_the_hub():
    hub = Hub(Events())

    async def gone(_message=None):
        raise OSError

    stream = Stream(hub, hub.join("user:ada", "acme"), StoreClock(), gladly)
    with pytest.raises(ClientDisconnect):
        await stream({"type": "http", "asgi": {"spec_version": "2.4"}}, gone, gone)
    assert hub.streams == {}


def messages(hub, heard=None):
    """What one page is told."""
    stream = Stream(hub, hub.join("user:ada", "acme", heard), StoreClock(), gladly)
    return aiter(stream.body_iterator)


async def test_streams_end_with_the_engine_and_do_not_hold_up_its_process():
    events = Events()
    hub = Hub(events)
    waits, rests = messages(hub), messages(hub, hub.heard("acme") - 1)
    assert [await anext(waits), await anext(rests)] == ["retry: 3000\n\n"] * 2
    assert await anext(rests) == "event: changed\ndata:\n\n"
    waiting = asyncio.ensure_future(anext(waits))
    await asyncio.sleep(0)
    events.emit(Stopped(released=0))
    async with asyncio.timeout(30):
        await waiting
        assert not [message for each in (waits, rests) async for message in each]
    events.emit(Started(worker="w"))
    assert await anext(messages(hub)) == "retry: 3000\n\n"
    assert not hub.over.is_set()


def test_a_stream_tells_at_once_what_happened_since_its_page_was_made():
    events = Events()
    hub = Hub(events)
    made = hub.heard("acme")
    assert not hub.join("user:ada", "acme", made).is_set()
    events.emit(WorkerLost(worker="w"))
    assert hub.join("user:ada", "acme", made).is_set()
    assert not hub.join("user:ada", "acme", hub.heard("acme")).is_set()
    assert not hub.join("user:ada", "acme").is_set()


def finished(project):
    """An attempt of a project ended."""
    job = SimpleNamespace(project=project)
    report: Any = SimpleNamespace(claim=SimpleNamespace(job=job))
    return AttemptsFinished(reports=[report])


def test_a_page_hears_nothing_of_another_project():
    events = Events()
    hub = Hub(events)
    mine, yours = hub.join("user:ada", "acme"), hub.join("user:bob", "other")
    made = hub.heard("acme")
    events.emit(finished("other"))
    events.emit(Planned(executions=9, skipped=0))
    assert (mine.is_set(), yours.is_set(), hub.heard("acme")) == (False, True, made)
    events.emit(finished("acme"))
    assert mine.is_set()


def test_one_visitor_does_not_take_all_streams():
    hub = Hub(Events())
    own = [hub.join("user:ada", "acme") for _ in range(MOST_OF_ONE)]
    with pytest.raises(LimitReached, match="pages open"):
        hub.join("user:ada", "acme")
    hub.join("user:bob", "acme")
    hub.streams.pop(own[0])
    hub.join("user:ada", "acme")
