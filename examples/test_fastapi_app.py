"""Tests of a FastAPI application and its jobs by the `TestClient`, in virtual time.

Run it with `pytest test_fastapi_app.py` or as a script; `pip install fastapi httpx pytest`.

It prints:
    2 passed
"""

# ruff: noqa: S101 - tests assert
import sys
from typing import Any

import pytest
from fastapi import FastAPI

from tickwell import Cron, Scheduler
from tickwell.testing import BlockingKit

# The application under test, as it is in production.
scheduler = Scheduler("postgresql://db.example/shop", app="shop")
app = FastAPI(lifespan=scheduler.lifespan)
mails: list[str] = []


@scheduler.job()
async def remind(user_id: int) -> None:
    """An hour after the registration."""
    mails.append(f"user {user_id}")


@scheduler.job(Cron("0 9 * * *", tz="Europe/Rome"))
def report() -> None:
    """At nine in Rome, every day."""
    mails.append("report")


@app.post("/users/{user_id}", status_code=202)
async def register(user_id: int) -> dict[str, str]:
    """Request a run for later."""
    return {"run": (await remind.trigger_in("1h", user_id)).id}


@pytest.fixture
def client(tickwell_blocking: BlockingKit) -> Any:
    """The application, whose scheduler lives in memory and in virtual time."""
    from fastapi.testclient import TestClient  # noqa: PLC0415

    mails.clear()
    tickwell_blocking.use(scheduler)
    with TestClient(app) as client:
        yield client


def test_a_reminder_comes_after_an_hour(client: Any, tickwell_blocking: BlockingKit) -> None:
    """The request is answered at once, the mail is sent an hour later."""
    assert client.post("/users/7").status_code == 202
    tickwell_blocking.assert_triggered("remind", {"user_id": 7}, times=1)
    tickwell_blocking.travel("59m")
    assert mails == []
    tickwell_blocking.travel("1m")
    assert mails == ["user 7"]


@pytest.mark.usefixtures("client")
def test_a_report_every_day(tickwell_blocking: BlockingKit) -> None:
    """A week takes no time."""
    tickwell_blocking.travel("7d")
    tickwell_blocking.assert_ran("report", times=7)


if __name__ == "__main__":
    quiet = ["-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    httpx = ["-W", "ignore::starlette.exceptions.StarletteDeprecationWarning"]
    sys.exit(pytest.main([__file__, *quiet, *httpx]))
