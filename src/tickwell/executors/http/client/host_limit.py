"""The limit of requests per project and host: a host that hangs holds up only its own webhooks."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass

#: Seconds after which a failure has nothing to do with the next one.
WINDOW = 60.0
#: A rest doubles with each probe that fails, up to so many times the first.
LONGEST = 16
MOST = 10_000

#: A project and a host: what one project breaks is not broken for another.
Key = tuple[str, str]


@dataclass(slots=True)
class _Line:
    failures: int = 0
    failed_at: float = 0.0
    #: Until then nothing goes out; 0: the line is closed, as it should be.
    open_until: float = 0.0
    rest: float = 0.0
    #: Until then one webhook is under way to see whether the host is back.
    probing_until: float = 0.0


class Breakers:
    """Counts failures in a row; knows nothing of requests."""

    def __init__(self, failures: int, rest: float, monotonic: Callable[[], float]) -> None:
        #: How many in a row open it; 0: never.
        self._most = failures
        self._rest = rest
        self._monotonic = monotonic
        self._lines: dict[Key, _Line] = {}

    def wait(self, key: Key) -> float:
        """Seconds to stay away; 0: go ahead. After the rest the first who asks may go alone."""
        line = self._lines.get(key)
        if line is None or not line.open_until:
            return 0.0
        now = self._monotonic()
        until = max(line.open_until, line.probing_until)
        if now < until:
            return until - now
        line.probing_until = now + line.rest
        return 0.0

    def succeeded(self, key: Key) -> None:
        """The host answered as it should."""
        self._lines.pop(key, None)

    def failed(self, key: Key) -> None:
        """The host did not answer, or that it cannot."""
        if not self._most:
            return
        now = self._monotonic()
        line = self._lines.get(key)
        if line is None:
            if len(self._lines) >= MOST:
                self._lines.clear()
            line = self._lines[key] = _Line()
        if line.open_until:
            if now >= line.open_until:  # the probe; those that were under way before count once
                line.rest = min(line.rest * 2, self._rest * LONGEST)
                line.open_until, line.probing_until = now + line.rest, 0.0
            return
        line.failures = line.failures + 1 if now - line.failed_at <= WINDOW else 1
        line.failed_at = now
        if line.failures >= self._most:
            line.rest = self._rest
            line.open_until = now + line.rest

    def gave_up(self, key: Key) -> None:
        """The attempt says nothing about the host: somebody else may go."""
        line = self._lines.get(key)
        if line is not None:
            line.probing_until = 0.0


#: Seconds without any response after which a host counts as stuck.
PATIENCE = 1.0


class Line:
    """Requests of one project to one host, and those that wait."""

    __slots__ = ("busy", "moved_at", "timer", "waiting")

    def __init__(self, now: float) -> None:
        self.busy = 0
        #: With each, whether it waits however long it takes.
        self.waiting: deque[tuple[asyncio.Future[bool], bool]] = deque()
        self.moved_at = now
        self.timer: asyncio.TimerHandle | None = None


class HostLimit:
    """Limits concurrent requests per project and host, in order of arrival."""

    def __init__(self, limit: int, monotonic: Callable[[], float]) -> None:
        self.limit = limit
        self._monotonic = monotonic
        self._lines: dict[Hashable, Line] = {}

    async def enter(self, host: Hashable, *, patient: bool) -> bool:
        """Wait for permission; False if the host is stuck and the caller would rather come back."""
        line = self._lines.get(host)
        if line is None:
            line = self._lines[host] = Line(self._monotonic())
        if line.busy < self.limit:
            line.busy += 1
            return True
        if not patient and self._is_stuck(line):
            return False
        granted: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        line.waiting.append((granted, patient))
        self._watch(line)
        try:
            return await granted
        except asyncio.CancelledError:
            if granted.done() and not granted.cancelled() and granted.result():
                self.leave(host)  # it was granted just now: pass it on
            raise

    def leave(self, host: Hashable) -> None:
        """Let the next one in line go."""
        line = self._lines[host]
        line.moved_at = self._monotonic()
        while line.waiting:
            granted, _ = line.waiting.popleft()
            if not granted.done():
                granted.set_result(True)
                return
        line.busy -= 1
        if not line.busy:
            if line.timer is not None:
                line.timer.cancel()
            del self._lines[host]

    def _is_stuck(self, line: Line) -> bool:
        return self._monotonic() - line.moved_at >= PATIENCE

    def _watch(self, line: Line) -> None:
        if line.timer is None:
            loop = asyncio.get_running_loop()
            line.timer = loop.call_later(PATIENCE, self._look_at, line)

    def _look_at(self, line: Line) -> None:
        line.timer = None
        if self._is_stuck(line):
            for granted, patient in line.waiting:
                if not patient and not granted.done():
                    granted.set_result(False)
            line.waiting = deque(each for each in line.waiting if not each[0].done())
        if line.waiting:
            self._watch(line)
