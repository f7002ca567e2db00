"""The supervisor: keeps worker processes running, each in a process of its own."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress

from tickwell.clock import Clock
from tickwell.domain.event import Events, ProcessEnded
from tickwell.engine.loop import backoff

#: A process that lived this many seconds had a good start: its next failure counts as the first.
GOOD_START = 10.0


class Supervisor:
    """Starts `count` processes of a command and starts each anew when it ends.

    Their standard input is a pipe held open by this process: its end tells them that they are
    orphaned, even when this process was killed with -9.
    """

    def __init__(
        self,
        command: Sequence[str],
        count: int,
        clock: Clock,
        events: Events,
        *,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.command = command
        self.environment = environment
        self.count = count
        self.clock = clock
        self.events = events
        self.processes: dict[int, subprocess.Popen[bytes]] = {}
        self._stopping = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Start all of them."""
        self._tasks = [asyncio.create_task(self._keep(number)) for number in range(self.count)]

    async def stop(self, seconds: float) -> None:
        """Ask all to drain, and kill what has not ended in time."""
        self._stopping.set()
        self._signal(signal.SIGTERM)
        _, late = await asyncio.wait(self._tasks, timeout=seconds) if self._tasks else ((), ())
        if late:
            self._signal(signal.SIGKILL)
            await asyncio.wait(late)

    @property
    def alive(self) -> int:
        """How many run now."""
        return sum(process.returncode is None for process in self.processes.values())

    def kill(self) -> None:
        """End all of them at once; what they ran is recovered by others."""
        self._stopping.set()
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        for process in self.processes.values():
            if process.returncode is None:
                process.send_signal(number)

    async def _keep(self, number: int) -> None:
        failures = 0
        while not self._stopping.is_set():
            started = self.clock.monotonic()
            pid, code = await self._one(number)
            if self._stopping.is_set():
                return
            failures = 1 if self.clock.monotonic() - started > GOOD_START else failures + 1
            rest = backoff(failures, str(number))
            self.events.emit(ProcessEnded(pid=pid, code=code, rest=rest))
            await self.clock.wait(self._stopping, rest)

    async def _one(self, number: int) -> tuple[int, int]:
        """Run one process to its end: its id and how it ended."""
        try:
            process = self._begin()
        except OSError as error:  # no memory or no process to be had: later, perhaps
            return 0, error.errno or 1
        self.processes[number] = process
        if self._stopping.is_set():
            process.terminate()
        return process.pid, await _ended(process)

    def _begin(self) -> subprocess.Popen[bytes]:
        """Start one, and not by the event loop.

        Uvloop runs Python in the copy of this process before it becomes another, and in a copy
        nobody lets go of what other threads held: one that hangs there holds up this process too.
        """
        return subprocess.Popen(self.command, stdin=subprocess.PIPE, env=self.environment)  # noqa: S603


async def _ended(process: subprocess.Popen[bytes]) -> int:
    """How it ended."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()

    def wait() -> None:
        with process:
            process.wait()
        with suppress(RuntimeError):  # the loop was closed meanwhile
            loop.call_soon_threadsafe(ended.set)

    name = f"tickwell-process-{process.pid}"
    threading.Thread(target=wait, name=name, daemon=True).start()
    await ended.wait()
    return process.wait()
