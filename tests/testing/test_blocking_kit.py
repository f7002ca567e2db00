"""The kit without an event loop: in plain tests, and under clients of web frameworks."""

import warnings
from datetime import UTC, datetime
from inspect import getmembers, isfunction, signature

import fastapi
import pytest

from tests.testing.test_kit import shop
from tickwell import Cron, Retry, Run, Scheduler, State
from tickwell.testing import BlockingKit, Kit


def public(of):
    found = {name: each for name, each in getmembers(of) if not name.startswith("_")}
    return {name: signature(each) if isfunction(each) else None for name, each in found.items()}


def test_it_has_every_call_of_the_kit():
    kit = public(Kit) | {"scheduler": None, "job": None}
    assert set(public(BlockingKit)) == set(kit) - {"restore"}
    for name, parameters in public(BlockingKit).items():
        assert parameters == kit[name], name


def test_time_passes_when_the_test_says_so(tickwell_blocking):
    tickwell_blocking.start_at(datetime(2026, 3, 28, tzinfo=UTC))

    @tickwell_blocking.job(Cron("0 9 * * *"))
    def report(run: Run) -> int:
        return run.fire_time.day

    tickwell_blocking.travel("2d")
    tickwell_blocking.travel_to(datetime(2026, 3, 31, tzinfo=UTC))
    assert tickwell_blocking.now == datetime(2026, 3, 31, tzinfo=UTC)
    tickwell_blocking.assert_ran("report", times=3)
    tickwell_blocking.assert_succeeded()
    assert [one.result for one in tickwell_blocking.runs("report")] == [28, 29, 30]
    assert len(tickwell_blocking.fires("report")) == 3


def test_a_scheduler_is_given_back(tmp_path):
    with BlockingKit() as kit:
        kit.use(shop)
        kit.travel("1h")
        kit.assert_ran("restock", times=1)
    assert shop.store_url.startswith("sqlite:")


def test_requests_are_asserted(tickwell_blocking):
    @tickwell_blocking.job()
    async def mail(user_id: int) -> int:
        return user_id

    mail.blocking.trigger(7)
    mail.blocking.trigger_in("1h", 8)
    (seven,) = tickwell_blocking.assert_triggered("mail", {"user_id": 7})
    assert seven.state is not State.SUCCEEDED
    tickwell_blocking.assert_triggered("mail", times=2)
    tickwell_blocking.assert_triggered("mail", {"user_id": 9}, times=0)
    with pytest.raises(
        AssertionError, match=r"'mail' was not triggered with \{'user_id': 9\}; req"
    ):
        tickwell_blocking.assert_triggered("mail", {"user_id": 9})
    with pytest.raises(AssertionError, match="'mail' was triggered 2 times, not once"):
        tickwell_blocking.assert_triggered("mail", times=1)
    tickwell_blocking.settle()
    tickwell_blocking.assert_ran("mail", times=1)


@pytest.mark.parametrize("is_async", [True, False])
def test_an_eager_request_is_answered_with_its_end(tickwell_blocking, is_async):
    tickwell_blocking.eager = True

    @tickwell_blocking.job()
    async def inner() -> str:
        return "inner"

    if is_async:

        @tickwell_blocking.job()
        async def outer(n: int) -> str:
            return (await inner.trigger()).state
    else:

        @tickwell_blocking.job()
        def outer(n: int) -> str:
            return inner.blocking.trigger().state

    @tickwell_blocking.job(retry=Retry(max_attempts=1))
    def broken() -> None:
        raise ValueError("no")

    begun = tickwell_blocking.now
    one = outer.blocking.trigger(1)
    assert one.state is State.SUCCEEDED
    assert one.result in {"queued", "running"}
    tickwell_blocking.assert_succeeded("inner")
    assert broken.blocking.trigger().state is State.DEAD
    assert tickwell_blocking.now == begun
    tickwell_blocking.eager = False
    assert broken.blocking.trigger().state is not State.DEAD


async def test_an_eager_request_is_awaited(tickwell):
    tickwell.eager = True

    @tickwell.job()
    async def mail(user_id: int) -> int:
        return user_id

    assert (await mail.trigger(7)).result == 7
    await tickwell.assert_triggered("mail", {"user_id": 7}, times=1)


@pytest.fixture
def test_client():
    """Starlette warns of the httpx that is installed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from fastapi.testclient import TestClient

        yield TestClient


def test_the_client_of_fastapi_has_the_same_time(tickwell_blocking, test_client):
    scheduler = Scheduler("sqlite:////nowhere/web.db", app="web")
    app = fastapi.FastAPI(lifespan=scheduler.lifespan)

    @scheduler.job()
    async def welcome(user_id: int) -> str:
        return f"welcome {user_id}"

    @scheduler.job(Cron("0 9 * * *"))
    def report() -> None: ...

    @app.post("/users/{user_id}")
    async def register(user_id: int) -> str:
        return (await welcome.trigger(user_id)).id

    @app.post("/plain/{user_id}")
    def register_plain(user_id: int) -> str:
        return welcome.blocking.trigger(user_id).id

    tickwell_blocking.use(scheduler)
    with test_client(app) as client:
        first, second = client.post("/users/7").json(), client.post("/plain/8").json()
        tickwell_blocking.travel("3d")
        runs = tickwell_blocking.runs("welcome")
        assert {one.id: one.result for one in runs} == {first: "welcome 7", second: "welcome 8"}
        tickwell_blocking.assert_ran("report", times=3)
    assert not scheduler.is_running
