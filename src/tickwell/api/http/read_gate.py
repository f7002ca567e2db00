"""Reads take turns: many at once would hold the event loop, and make fires late."""

from __future__ import annotations

from asyncio import AbstractEventLoop, CancelledError, Future, get_running_loop
from collections import deque

#: Seconds after which a read that waits for its store admits the next one, if the loop is idle: a
#: timer that is at most LATE seconds late shows that.
PATIENCE, LATE = 0.005, 0.001
#: How often a read checks that; then the next one is admitted whatever the loop does.
CHECKS = 20


class Pass:
    """The right to be worked on, until it is returned or the next read is admitted."""

    __slots__ = ("_checks", "_gate", "_loop", "_timer")

    def __init__(self, gate: ReadGate, loop: AbstractEventLoop) -> None:
        self._gate: ReadGate | None = gate
        self._loop = loop
        self._checks = CHECKS
        self._timer = loop.call_later(PATIENCE, self._check)

    def end(self) -> None:
        """Admit the next read, once."""
        gate, self._gate = self._gate, None
        if gate is not None:
            self._timer.cancel()
            gate.admit_next()

    def _check(self) -> None:
        self._checks -= 1
        if not self._checks or self._loop.time() - self._timer.when() < LATE:
            self.end()
        else:
            self._timer = self._loop.call_later(PATIENCE, self._check)


class ReadGate:
    """Admits one read at a time, in the order of arrival."""

    def __init__(self) -> None:
        self._loop: AbstractEventLoop | None = None
        self._is_free = True
        self._waiting: deque[Future[None]] = deque()

    async def enter(self) -> Pass:
        """Wait to be admitted."""
        loop = get_running_loop()
        if loop is not self._loop:  # a loop that has ended returns no pass
            self._loop, self._is_free, self._waiting = loop, True, deque()
        if self._is_free:
            self._is_free = False
        else:
            await self._wait(loop.create_future())
        return Pass(self, loop)

    async def _wait(self, waiting: Future[None]) -> None:
        self._waiting.append(waiting)
        try:
            await waiting
        except CancelledError:
            if waiting.done() and not waiting.cancelled():
                self.admit_next()  # this one had been admitted already
            raise

    def admit_next(self) -> None:
        """Admit the next read that has not been cancelled."""
        while self._waiting:
            waiting = self._waiting.popleft()
            if not waiting.done():
                waiting.set_result(None)
                return
        self._is_free = True
