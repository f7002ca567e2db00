"""The API inside somebody's own application."""

import asyncio

import httpx
import pytest
from fastapi import FastAPI

from tickwell import Scheduler, Settings
from tickwell.errors import InvalidSetting


async def test_the_api_answers_where_it_is_mounted(tmp_path):
    store = f"sqlite:///{tmp_path / 'jobs.db'}"
    scheduler = Scheduler(store, settings=Settings(auth=False, host="test"))

    @scheduler.job()
    async def report() -> None:
        """Nothing to do."""

    app = FastAPI(lifespan=scheduler.lifespan)
    app.mount("/scheduler", scheduler.asgi())
    async with scheduler.lifespan():
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as http:
            jobs = (await http.get("/scheduler/api/v1/jobs")).json()["items"]
            assert [job["name"] for job in jobs] == ["report"]
            run = await http.post("/scheduler/api/v1/jobs/report/trigger")
            assert run.status_code == 202
            assert (await http.get(run.headers["location"])).json()["id"] == run.json()["id"]
            assert (await http.get("/api/v1/jobs")).status_code == 404


async def test_strangers_are_asked_who_they_are(tmp_path):
    scheduler = Scheduler(f"sqlite:///{tmp_path / 'jobs.db'}")
    app = scheduler.asgi()
    async with scheduler.lifespan():
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as http:
            assert (await http.get("/api/v1/jobs")).status_code == 401
            assert (await http.get("/health")).status_code == 200


async def test_before_anybody_can_be_known_it_says_that_it_is_starting(tmp_path):
    app = Scheduler(f"sqlite:///{tmp_path / 'jobs.db'}").asgi()
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as http:
        answer = await http.get("/api/v1/jobs")
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
        assert "still starting" in answer.json()["detail"]
        assert (await http.get("/jobs")).status_code == 503


async def test_the_first_start_makes_a_user_and_says_once_how_they_get_in(tmp_path, caplog):
    store = f"sqlite:///{tmp_path / 'jobs.db'}"
    for _ in range(2):
        scheduler = Scheduler(store)
        welcomed = asyncio.Event()
        app = scheduler.asgi()
        assert scheduler.asgi() is app
        scheduler.on("start")(welcomed.set)
        async with scheduler:
            await welcomed.wait()
    await scheduler.open()
    user = await app.state.context.admin.directory.find("local")
    await scheduler.stop()
    assert user.roles == {"default": "admin"}
    assert [line.split(" --address ")[0] for line in caplog.messages] == [
        f"the dashboard has its first user: tickwell users link local --store {store}"
    ]


async def test_a_method_that_is_not_offered_is_said_beside_the_dashboard_too(tmp_path):
    scheduler = Scheduler(f"sqlite:///{tmp_path / 'jobs.db'}")
    app = FastAPI()
    app.mount("/scheduler", scheduler.asgi())
    async with scheduler.lifespan():
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as http:
            refused = await http.patch("/scheduler/api/v1/jobs")
            assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD, POST")
            assert (await http.post("/scheduler/health")).status_code == 405
            assert (await http.get("/scheduler/api/v1/nothing")).status_code == 404
            page = await http.get("/scheduler/nowhere")
            assert (page.status_code, page.headers["content-type"][:9]) == (404, "text/html")
            assert (await http.get("/scheduler/login")).status_code == 200


async def test_keys_are_made_at_the_start_and_never_beside_a_store_that_has_others(tmp_path):
    store, key = f"sqlite:///{tmp_path / 'jobs.db'}", tmp_path / "jobs.db.key"
    scheduler = Scheduler(store)
    scheduler.asgi()
    assert list(tmp_path.iterdir()) == []
    async with scheduler:
        assert key.exists()
    key.rename(tmp_path / "elsewhere")
    scheduler = Scheduler(store)
    scheduler.asgi()
    with pytest.raises(InvalidSetting, match="is not known here"):
        await scheduler.start()
    await scheduler.stop()
    assert not key.exists()


def test_where_the_extra_is_missing_it_is_named(monkeypatch):
    monkeypatch.setattr("tickwell.api.server.find_spec", lambda _: None)
    with pytest.raises(InvalidSetting, match=r"need the server extra\. pip install 'tickwell\[ser"):
        Scheduler("memory://").asgi()
