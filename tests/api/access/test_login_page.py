"""The page that asks who it is."""

from dataclasses import replace

import httpx
import pytest

from tickwell.ui.app import create_ui


@pytest.fixture
async def browser(house):
    app = house.world.app
    app.mount("/", create_ui(house.world.context))
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        yield client


async def test_a_stranger_is_led_there_and_on_to_the_page_they_wanted(house, browser):
    answer = await browser.get("/jobs?q=x")
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=/jobs%3Fq%3Dx")
    page = await browser.get(answer.headers["location"])
    assert 'value="/jobs?q=x"' in page.text
    link = await house.link("root")
    shown = await browser.get("/login", params={"link": link})
    assert "logs you in once" in shown.text
    answer = await browser.post("/login", data={"link": link, "next": "/jobs?q=x"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/jobs?q=x")
    assert (await browser.get("/jobs")).status_code == 200
    again = await browser.post("/login", data={"link": link})
    assert again.status_code == 401
    assert 'role="alert"' in again.text


@pytest.mark.parametrize("wanted", ["//evil.example", "https://evil.example", "/\\evil", "x"])
async def test_it_leads_nowhere_else(house, browser, wanted):
    link = await house.link("root")
    answer = await browser.post("/login", data={"link": link, "next": wanted})
    assert answer.headers["location"] == "/"


async def test_logging_out_needs_the_token_of_the_page(house, browser):
    link = await house.link("root")
    await browser.post("/login", data={"link": link})
    assert (await browser.post("/logout")).status_code == 401
    page = (await browser.get("/jobs")).text
    token = page.split('"x-csrf-token":"')[1].split('"')[0]
    assert (await browser.post("/logout", data={"csrf": token})).status_code == 303
    assert (await browser.get("/jobs")).status_code == 303


async def test_another_issuer_is_offered_only_where_there_is_one(house, browser):
    assert "Log in with" not in (await browser.get("/login")).text
    assert (await browser.get("/login/oidc")).status_code == 404


async def test_a_login_link_leads_to_the_public_url_whatever_host_a_request_names(house):
    root = await house.login("root")
    context = house.world.context

    async def link():
        asked = await house.http.post("/users/root/link", headers=root | {"host": "evil.example"})
        return asked.json()["link"]

    assert (await link()).startswith("http://evil.example/login?link=")
    public = "https://jobs.example.com/scheduler/"
    context.settings = replace(context.settings, public_url=public)
    assert (await link()).startswith("https://jobs.example.com/scheduler/login?link=")
