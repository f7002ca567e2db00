"""Cookies go to every port and path of a host: services beside each other keep their own."""

import re

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from tests.ui.house import HOST, OWNER, House


@pytest.fixture
async def houses(tmp_path):
    """Two services, with the project `acme` in each."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    async with House(tmp_path / "a") as first, House(tmp_path / "b") as second:
        for house in (first, second):
            await house.admin.projects.create(OWNER, "acme", admin="local")
        yield first, second


async def tried(houses, client, first, second):
    """Log in here and there, choose a project there, and look at both."""
    for house, place in zip(houses, (first, second), strict=True):
        link = await house.link("local")
        answer = await client.post(f"{place}/login", data={"link": link})
        assert answer.status_code == 303, answer.text
    page = await client.get(f"{second}/settings")
    token = re.findall('name="csrf" value="([^"]+)"', page.text)[0]
    chosen = {"csrf": token, "project": "acme"}
    await client.post(f"{second}/preferences/project", data=chosen)
    pages = [await client.get(f"{place}/jobs") for place in (first, second)]
    return [re.findall('title="Project">([^<]+)<', page.text)[0] for page in pages]


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_two_ports(houses, scheme):
    places = [f"{scheme}://{HOST}:{port}" for port in (8080, 8081)]
    mounts = {
        place: httpx.ASGITransport(house.app) for place, house in zip(places, houses, strict=True)
    }
    async with httpx.AsyncClient(mounts=mounts) as client:
        assert await tried(houses, client, *places) == ["default", "acme"]
        names = {each.name for each in client.cookies.jar}
        session = "__Host-tickwell" if scheme == "https" else "tickwell"
        assert {f"{session}-8080", f"{session}-8081", "project-8081"} <= names


async def test_two_paths(houses):
    mounts = [Mount(path, house.app) for path, house in zip(("/a", "/b/c"), houses, strict=True)]
    transport = httpx.ASGITransport(Starlette(routes=mounts))
    async with httpx.AsyncClient(transport=transport) as client:
        host = f"http://{HOST}"
        assert await tried(houses, client, f"{host}/a", f"{host}/b/c") == ["default", "acme"]


async def test_what_was_done_is_said_where_one_lands_and_once(house):
    browser = await house.login()
    await browser.get("/settings")
    answer = await browser.post("/settings/password", new="a few words of my own")
    said = "Password set; log in with it"
    assert said in (await browser.get(answer.headers["location"])).text
    assert said not in (await browser.get("/login")).text
