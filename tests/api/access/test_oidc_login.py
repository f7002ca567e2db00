"""Logging in through another issuer, where API and dashboard are one application."""

import httpx
import pytest
from fastapi import FastAPI

from tests.services.admin.test_oidc import ISSUER, Issuer
from tickwell import Scheduler, Settings
from tickwell.declared.internals import internals
from tickwell.services.access.actor import Actor, Permission, Role

ADMIN = Actor(name="user:local", project="default", permissions=frozenset(Permission))


@pytest.mark.parametrize("path", ["", "/scheduler"])
async def test_a_browser_goes_there_and_comes_back_logged_in(tmp_path, path):
    settings = Settings(oidc=f"corp issuer={ISSUER} client_id=us")
    scheduler = Scheduler(f"sqlite:///{tmp_path / 'jobs.db'}", settings=settings)
    app = FastAPI()
    app.mount(path, scheduler.asgi())
    async with scheduler.lifespan():
        admin = scheduler.asgi().state.context.admin
        issuer = admin.oidc._web = Issuer(internals(scheduler).clock)
        await admin.members.set(ADMIN, "corp:ada", Role.VIEWER)
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as http:
            sent = await http.get(f"{path}/login/oidc", params={"next": "/jobs"})
            assert sent.status_code == 303
            state = issuer.arrive(sent.headers["location"])
            assert issuer.asked["redirect_uri"] == f"http://test{path}/login/oidc/back"
            given = {"state": state, "code": "c"}
            back = await http.get(issuer.asked["redirect_uri"], params=given)
            assert (back.status_code, back.headers["location"]) == (303, f"{path}/jobs")
            assert (await http.get(f"{path}/api/v1/session")).json()["name"] == "user:corp:ada"
            page = (await http.get(f"{path}/settings")).text
            assert "corp:ada" in page
            assert 'name="new"' not in page  # no password here for who logs in there


async def test_the_issuer_sends_a_browser_to_the_public_url_whatever_host_a_request_names(tmp_path):
    public = "https://jobs.example.com/scheduler"
    settings = Settings(oidc=f"corp issuer={ISSUER} client_id=us", public_url=public)
    scheduler = Scheduler(f"sqlite:///{tmp_path / 'jobs.db'}", settings=settings)
    app = scheduler.asgi()
    async with scheduler.lifespan():
        admin = app.state.context.admin
        issuer = admin.oidc._web = Issuer(internals(scheduler).clock)
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://evil.example") as http:
            sent = await http.get("/login/oidc")
            issuer.arrive(sent.headers["location"])
    assert issuer.asked["redirect_uri"] == f"{public}/login/oidc/back"
