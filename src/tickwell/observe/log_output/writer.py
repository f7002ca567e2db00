"""Writes log lines in a thread of its own: a blocked pipe or a full disk stops no scheduler."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable

#: Bytes that wait to be written; lines beyond that are dropped and counted.
MOST_WAITING = 4 * 1024 * 1024


class Writer:
    """Hands lines to a thread that writes them in order.

    A write to a pipe that nobody reads blocks, and no question asked before can tell: another
    process may fill the same pipe in between. So no other thread ever writes.
    """

    def __init__(self, descriptor: int, dropped: Callable[[int], bytes]) -> None:
        self._descriptor = descriptor
        #: The line that says how many were dropped.
        self._dropped_line = dropped
        self._dropped = 0
        self._start()
        # A fork copies the lines that wait, which its parent writes, but not the thread.
        os.register_at_fork(after_in_child=self._start)

    def _start(self) -> None:
        self._lines: deque[bytes] = deque()
        self._waiting = 0
        self._condition = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    def msg(self, line: bytes) -> None:
        """Write a line soon; never wait."""
        with self._condition:
            if self._closed or self._waiting + len(line) > MOST_WAITING:
                self._dropped += 1
                return
            self._lines.append(line)
            self._waiting += len(line)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="tickwell-log", daemon=True)
                self._thread.start()
            self._condition.notify()

    # As structlog calls it.
    log = debug = info = warn = warning = error = critical = exception = msg

    def close(self, seconds: float) -> None:
        """Write what waits, for so long at most; nothing is written after that."""
        with self._condition:
            self._condition.wait_for(lambda: not self._waiting, seconds)
            self._closed = True
            self._condition.notify()

    def _run(self) -> None:
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self._lines or self._closed)
                if not self._lines:
                    return
                lines = [*self._lines]
                self._lines.clear()
                dropped, self._dropped = self._dropped, 0
            if dropped:
                lines.append(self._dropped_line(dropped))
            self._write(lines)
            with self._condition:
                self._waiting = sum(map(len, self._lines))
                self._condition.notify_all()

    def _write(self, lines: list[bytes]) -> None:
        """A line that cannot be written counts as dropped: the disk may have room for the next."""
        for number, line in enumerate(lines):
            rest = memoryview(line + b"\n")
            try:
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
            except OSError:
                with self._condition:
                    self._dropped += len(lines) - number
                return
