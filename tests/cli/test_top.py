"""`tickwell top`: one frame for a script, frames on a terminal."""

import asyncio
import os
import pty
import re
import select
import subprocess
import sys

from tests.cli.world import make_past
from tests.servers.private import free_port
from tickwell import Scheduler
from tickwell.cli.connection.store_connection import StoreConnection
from tickwell.cli.output.views import say_roles
from tickwell.cli.top import view


def test_one_frame_says_what_there_is(tickwell, either):
    make_past()
    shown = tickwell("top", "--once")
    assert shown.code == 0, shown.err
    assert re.search(r"^state +(amber|red)$", shown.out, re.MULTILINE)
    assert "no worker is alive" in shown.out
    assert re.search(
        r"^rate/s +1 min [\d.]+ +5 min [\d.]+ +15 min [\d.]+$", shown.out, re.MULTILINE
    )
    assert re.search(r"^default +active +0 +0 +0 +[\d.e-]+ +[\d.e-]+ +\d", shown.out, re.MULTILINE)
    assert "Nothing is running" in shown.out
    assert "ValueError: no order 3 \\x1b[31m" in shown.out
    assert "\x1b" not in shown.out


def test_without_a_terminal_it_prints_once(tickwell):
    tickwell("store", "migrate")
    shown = tickwell("top")
    assert (shown.code, "No workers. Start one: tickwell serve" in shown.out) == (0, True)


def test_running_executions_and_busy_workers(tickwell, folder):
    scheduler = Scheduler("sqlite:///tickwell.db")
    started, may_end = asyncio.Event(), asyncio.Event()

    @scheduler.job()
    async def slow() -> None:
        started.set()
        await may_end.wait()

    async def look():
        async with scheduler:
            await slow.trigger()
            await started.wait()
            try:
                return await asyncio.to_thread(
                    lambda: (tickwell("top", "--json").json, tickwell("top", "--once").out)
                )
            finally:
                may_end.set()

    document, shown = asyncio.run(look())
    assert [each["job_name"] for each in document["running"]] == ["slow"]
    assert set(document["metrics"]) >= {"rate", "errors", "duration", "lateness", "queue_depth"}
    assert re.search(r":\d+ +[a-z,]*worker[a-z,]* +alive +1/\d+ +default ", shown)
    assert "Running (1)" in shown


def test_a_terminal_gets_frames_and_its_old_screen_back(folder):
    make_past()
    inner, outer = pty.openpty()
    command = [sys.executable, "-m", "tickwell", "top", "--interval", "0.5"]
    environ = os.environ | {"TERM": "xterm", "LINES": "30", "COLUMNS": "80"}
    with subprocess.Popen(command, stdout=outer, stderr=outer, stdin=outer, env=environ) as child:
        os.close(outer)
        shown = _read(inner, lambda text: text.count("\x1b[H") >= 2)
        child.send_signal(2)
        shown += _read(inner, lambda _: False)
        assert child.wait() == 0
    os.close(inner)
    assert shown.startswith("\x1b[?1049h")
    assert shown.rstrip().endswith("\x1b[?1049l")
    frame = shown.split("\x1b[H")[1]
    assert "Latest failures" in frame
    assert "\x1b[31m\n" not in frame
    assert "\x1b[2J" not in shown


def test_a_low_screen_shows_live_workers_first():
    found = [
        {"pid": 1, "state": "lost", "roles": ["planner"], "capacity": 0},
        {"pid": 2, "state": "alive", "roles": ["api"], "capacity": 0},
        {"pid": 3, "state": "alive", "roles": [], "capacity": 0},
        {"pid": 4, "state": "alive", "roles": ["worker"], "capacity": 10},
    ]
    assert [each["pid"] for each in sorted(found, key=view.rank)] == [4, 2, 3, 1]
    assert [say_roles(each) for each in found] == ["planner", "api", "supervisor", "worker"]


def _read(terminal, enough):
    """What the command writes, until it is enough or the command has ended."""
    found = ""
    while not enough(found):
        if not select.select([terminal], [], [], 100)[0]:
            raise AssertionError(f"nothing more after {found!r}")
        try:
            part = os.read(terminal, 65536).decode()
        except OSError:  # the other end is closed
            return found
        if not part:
            return found
        found += part
    return found


def test_a_store_that_does_not_answer_is_the_state_and_not_an_error(tickwell, monkeypatch):
    opened, sound = [], StoreConnection.open

    async def count(connection, **options):
        opened.append(connection)
        await sound(connection, **options)

    monkeypatch.setattr(StoreConnection, "open", count)
    monkeypatch.setenv("TICKWELL_STORE", f"redis://127.0.0.1:{free_port()}")
    shown = tickwell("top", "--once")
    assert shown.code == 0, shown.err
    assert re.search(r"^state +red$", shown.out, re.MULTILINE)
    assert "does not answer" in shown.out
    assert "Running" not in shown.out
    assert len(opened) == 1, "each attempt to connect may take until its timeout"
    document = tickwell("top", "--json").json
    assert (document["problems"][0]["check"], document["metrics"]) == ("store", None)
