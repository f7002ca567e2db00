"""Tests of scheduled code, in virtual time, on the real engine. Needs only pytest.

Run it with `pytest test_in_virtual_time.py` or as a script; in a checkout after `./run setup`.

It prints:
    3 passed
"""

# ruff: noqa: S101 - tests assert
import sys
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from tickwell import Cron, Every, Http, Retry, Run, Scheduler
from tickwell.testing import Kit, Receiver

# The application under test, as it is in production.
scheduler = Scheduler("sqlite:////var/lib/shop/jobs.db", app="shop")
sent: list[datetime] = []


@scheduler.job(Cron("30 2 * * *", tz="Europe/Rome"))
async def nightly(run: Run) -> None:
    """At half past two in Rome, every night."""
    sent.append(run.fire_time)


async def test_the_night_the_clocks_go_forward(tickwell: Kit) -> None:
    """02:30 does not exist that night, so the job runs at 03:00."""
    tickwell.use(scheduler)
    tickwell.start_at(datetime(2026, 3, 28, 12, tzinfo=UTC))
    await tickwell.travel("2d")
    rome = ZoneInfo("Europe/Rome")
    assert [f"{at.astimezone(rome):%d %H:%M}" for at in sent] == ["29 03:00", "30 02:30"]


async def test_a_retry_comes_after_its_delay(tickwell: Kit) -> None:
    """Ten minutes of virtual time take no real time."""
    tries: list[datetime] = []

    @tickwell.job(retry=Retry(delay="10m", jitter=0))
    def flaky() -> None:
        tries.append(tickwell.now)
        if len(tries) == 1:
            raise ConnectionError

    await flaky.trigger()
    await tickwell.travel("1h")
    await tickwell.assert_succeeded("flaky")
    assert (tries[1] - tries[0]).total_seconds() == 600


async def test_a_webhook(tickwell: Kit, tickwell_receiver: Receiver) -> None:
    """The receiver stores the requests it gets."""
    target = Http(tickwell_receiver.url("/hook"), body={"text": "hello"})
    await tickwell.scheduler.add_job("hook", Every("1d"), target)
    await tickwell.travel("3d")
    assert [request.json for request in tickwell_receiver.requests] == [{"text": "hello"}] * 3


if __name__ == "__main__":
    # Not needed with `pytest test_in_virtual_time.py`: here Tickwell is already imported.
    quiet = ["-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    sys.exit(pytest.main([__file__, *quiet]))
