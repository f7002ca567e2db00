"""Waiting for a run: to its end, or not for ever."""

import asyncio

import pytest

from tickwell import Scheduler, Settings
from tickwell.domain.event import Parked

STORE = "sqlite:///tickwell.db"


async def _park():
    """A worker that does not know the handler, until it has put the execution aside."""
    scheduler = Scheduler(STORE, settings=Settings(beat="200ms", sweep="200ms"))

    @scheduler.job()
    async def other() -> None: ...

    parked = asyncio.Event()
    scheduler.on(Parked)(parked.set)
    async with scheduler, asyncio.timeout(100):
        await parked.wait()


@pytest.fixture
def parked(tickwell, either):
    tickwell("jobs", "add", "tidy", "--on-demand", "--call", "unknown")
    id = tickwell("jobs", "trigger", "tidy").out.strip()
    asyncio.run(_park())
    return id


def test_a_parked_run_is_not_waited_for(tickwell, parked):
    for more in ([], ["--within", "1ms"]):
        followed = tickwell("executions", "follow", parked, *more)
        assert followed.code == 7
        why = "no live worker knows handler 'unknown'"
        assert f"parked: {why}; start one that does\n" in followed.err
        assert f"It has not ended. Watch it: tickwell executions follow {parked}" in followed.err
        assert dict(row[:2] for row in followed.rows)["state"] == "parked"


def test_one_waits_no_longer_than_one_said(tickwell, either):
    tickwell("jobs", "add", "tidy", "--on-demand", "--call", "unknown")
    waited = tickwell("jobs", "trigger", "tidy", "--wait", "--within", "50ms")
    assert waited.code == 7
    assert "It has not ended." in waited.err
    assert tickwell("jobs", "trigger", "tidy", "--within", "0s").code == 7  # says to wait


def test_a_bad_duration_triggers_nothing(tickwell, either):
    tickwell("jobs", "add", "tidy", "--on-demand", "--call", "unknown")
    for bad in ("soon", "-5s"):
        refused = tickwell("jobs", "trigger", "tidy", "--wait", "--within", bad)
        assert refused.code == 2
        assert "within: " in refused.err
    assert tickwell("executions", "list", "--json").json["items"] == []
