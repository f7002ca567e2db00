"""A project's places at a host: one that hangs keeps so many webhooks, and others go on."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Hashable

#: Seconds without any answer after which those in line need not wait any longer.
PATIENCE = 1.0


class Line:
    """Those of one project at one host, and those that wait to get there."""

    __slots__ = ("busy", "moved_at", "timer", "waiting")

    def __init__(self, now: float) -> None:
        self.busy = 0
        #: With each, whether it may be sent away.
        self.waiting: deque[tuple[asyncio.Future[bool], bool]] = deque()
        self.moved_at = now
        self.timer: asyncio.TimerHandle | None = None


class Places:
    """A number of places for each project and host, taken in order of arrival."""

    def __init__(self, limit: int, monotonic: Callable[[], float]) -> None:
        self.limit = limit
        self._monotonic = monotonic
        self._lines: dict[Hashable, Line] = {}

    async def enter(self, place: Hashable, *, patient: bool) -> bool:
        """Take a place; False when nobody moves there and this one is not patient."""
        line = self._lines.get(place)
        if line is None:
            line = self._lines[place] = Line(self._monotonic())
        if line.busy < self.limit:
            line.busy += 1
            return True
        if not patient and self._is_stuck(line):
            return False
        turn: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        line.waiting.append((turn, patient))
        self._watch(line)
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.result():
                self.leave(place)  # it was our turn just now: the next one's, then
            raise

    def leave(self, place: Hashable) -> None:
        """Give the place to the next in line."""
        line = self._lines[place]
        line.moved_at = self._monotonic()
        while line.waiting:
            turn, _ = line.waiting.popleft()
            if not turn.done():
                turn.set_result(True)
                return
        line.busy -= 1
        if not line.busy:
            if line.timer is not None:
                line.timer.cancel()
            del self._lines[place]

    def _is_stuck(self, line: Line) -> bool:
        return self._monotonic() - line.moved_at >= PATIENCE

    def _watch(self, line: Line) -> None:
        if line.timer is None:
            loop = asyncio.get_running_loop()
            line.timer = loop.call_later(PATIENCE, self._look_at, line)

    def _look_at(self, line: Line) -> None:
        line.timer = None
        if self._is_stuck(line):
            for turn, patient in line.waiting:
                if not patient and not turn.done():
                    turn.set_result(False)
            line.waiting = deque(each for each in line.waiting if not each[0].done())
        if line.waiting:
            self._watch(line)
