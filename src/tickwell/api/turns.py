"""Reads take turns: many that come at once would hold the event loop, and make fires late."""

from __future__ import annotations

from asyncio import AbstractEventLoop, CancelledError, Future, get_running_loop
from collections import deque

#: Seconds after which one that waits for its store lets another in, where the loop has nothing else
#: to do: it is known by a timer that is not later than this.
PATIENCE, LATE = 0.005, 0.001
#: How often it looks whether that is so; then the other comes in whatever the loop does.
LOOKS = 20


class Turn:
    """The right to be worked on, until it is given back or another is let in."""

    __slots__ = ("_looks", "_loop", "_timer", "_turns")

    def __init__(self, turns: Turns, loop: AbstractEventLoop) -> None:
        self._turns: Turns | None = turns
        self._loop = loop
        self._looks = LOOKS
        self._timer = loop.call_later(PATIENCE, self._look)

    def end(self) -> None:
        """Let the next one in, once."""
        turns, self._turns = self._turns, None
        if turns is not None:
            self._timer.cancel()
            turns.pass_on()

    def _look(self) -> None:
        self._looks -= 1
        if not self._looks or self._loop.time() - self._timer.when() < LATE:
            self.end()
        else:
            self._timer = self._loop.call_later(PATIENCE, self._look)


class Turns:
    """One has its turn, the others wait in the order in which they came."""

    def __init__(self) -> None:
        self._loop: AbstractEventLoop | None = None
        self._is_free = True
        self._waiting: deque[Future[None]] = deque()

    async def take(self) -> Turn:
        """Wait for one's turn."""
        loop = get_running_loop()
        if loop is not self._loop:  # one that has ended gives nothing back
            self._loop, self._is_free, self._waiting = loop, True, deque()
        if self._is_free:
            self._is_free = False
        else:
            await self._wait(loop.create_future())
        return Turn(self, loop)

    async def _wait(self, waiting: Future[None]) -> None:
        self._waiting.append(waiting)
        try:
            await waiting
        except CancelledError:
            if waiting.done() and not waiting.cancelled():
                self.pass_on()  # it was one's turn already
            raise

    def pass_on(self) -> None:
        """Let the next one in; whoever went away is passed over."""
        while self._waiting:
            waiting = self._waiting.popleft()
            if not waiting.done():
                waiting.set_result(None)
                return
        self._is_free = True
