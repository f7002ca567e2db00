"""Handlers that say outside the store that they were called, and then behave or misbehave."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tests.processes.journal import Journal
from tickwell.clock import wall_millis
from tickwell.executors.handlers import Handlers
from tickwell.executors.run import Run

#: Seconds, longer than any test waits: its processes end with it, and what they run with them.
LONGEST = 600.0
#: Seconds that a loop keeps a processor busy: longer than the timeouts of its job.
SPINS = 3.0
#: Seconds that a handler takes to stop.
LINGERS = 0.3
#: Milliseconds that the host's two clocks drift apart between two samples of one by the other.
SLACK = 1


class RecordingHandlers:
    """The handlers of a process under test."""

    def __init__(self, journal: Journal, time: Callable[[], int] = wall_millis) -> None:
        self.journal = journal
        self.time = time

    def registered(self) -> Handlers:
        handlers = Handlers()
        for function in (
            self.count,
            self.nap,
            self.hold,
            self.linger,
            self.fail_first,
            self.poison,
            self.quit,
            self.quit_in_thread,
            self.spin,
            self.stubborn,
        ):
            handlers.add(function.__name__, function)
        return handlers

    def note(self, what: str, run: Run) -> None:
        self.journal.write(what, run.id, run.attempt, run.job, at=self.time(), slack=SLACK)

    async def count(self, run: Run) -> None:
        self.note("begin", run)

    async def nap(self, seconds: float, run: Run) -> None:
        self.note("begin", run)
        try:
            await asyncio.sleep(seconds)
        finally:
            self.note("end", run)

    async def hold(self, until: str, run: Run) -> str:
        """Until a file is there."""
        self.note("begin", run)
        await _until(Path(until).exists)
        self.note("end", run)
        return str(os.getpid())

    async def linger(self, until: str, run: Run) -> None:
        """Until a file is there; once cancelled, a while longer."""
        self.note("begin", run)
        try:
            await _until(Path(until).exists)
        finally:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(LINGERS)
            self.note("end", run)

    async def fail_first(self, times: int, run: Run) -> None:
        self.note("begin", run)
        if run.attempt <= times:
            raise RuntimeError(f"attempt {run.attempt} fails as planned")

    async def poison(self, run: Run) -> None:
        self.note("begin", run)
        os.kill(os.getpid(), signal.SIGKILL)

    async def quit(self, run: Run) -> None:
        self.note("begin", run)
        sys.exit(3)

    def quit_in_thread(self, run: Run) -> None:
        self.note("begin", run)
        sys.exit(3)

    def spin(self, run: Run) -> None:
        """A sync loop that heeds nothing; past every timeout it leaves the processor to others."""
        self.note("begin", run)
        end = time.monotonic() + SPINS
        while time.monotonic() < end:
            pass
        time.sleep(LONGEST)

    async def stubborn(self, until: str, run: Run) -> None:
        """Swallows every cancellation."""
        self.note("begin", run)
        there = Path(until).exists
        while not there():
            try:
                await _until(there)
            except asyncio.CancelledError:
                continue


async def _until(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + LONGEST
    while not happened():
        assert time.monotonic() < end
        await asyncio.sleep(0.01)
