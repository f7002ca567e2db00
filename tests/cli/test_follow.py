"""Waiting for a run: to its end, or not for ever."""

import asyncio
import queue
import threading

import pytest

from tickwell import Run, Scheduler, Settings
from tickwell.cli.output.screen import Screen
from tickwell.events import AttemptsFinished, Parked

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


async def _talk(ids, seen):
    """A worker whose handler prints a line, and another one when somebody has seen that."""
    scheduler, ended = Scheduler(STORE), asyncio.Event()

    @scheduler.job()
    def talk(run: Run) -> None:
        run.log.info("first \x1b[31mline")
        seen.wait(100)
        run.log.info("last line")

    @scheduler.on(AttemptsFinished)
    def end(_event) -> None:
        ended.set()

    async with scheduler, asyncio.timeout(200):
        ids.put((await talk.trigger()).id)
        await ended.wait()


def test_lines_are_printed_as_they_come(tickwell, either, monkeypatch):
    ids, seen, line = queue.Queue[str](), threading.Event(), Screen.line

    def told(screen, text):
        line(screen, text)
        seen.set()

    monkeypatch.setattr(Screen, "line", told)
    worker = threading.Thread(target=lambda: asyncio.run(_talk(ids, seen)))
    worker.start()
    id = ids.get(timeout=100)
    followed = tickwell("executions", "follow", id)
    worker.join()
    assert followed.code == 0
    first, last = [row for row in followed.out.splitlines() if row.endswith("line")]
    assert (first.startswith("INFO first "), last) == (True, "INFO last line")
    assert "\x1b" not in followed.out
    shown = tickwell("executions", "show", id)
    assert ["log", "1", "INFO last line"] in shown.rows
    assert "\x1b" not in shown.out
    as_json = tickwell("executions", "follow", id, "--json")
    assert as_json.json["logs"][0]["lines"][-1] == "INFO last line"
    assert "last line" in as_json.err
