"""Ends that are told when a crowd has started: sending comes first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tickwell.domain.outcome import Outcome
from tickwell.engine.running.attempt import Attempt


class Ends:
    """Attempts that have ended and left their slots, in order, and when that was."""

    def __init__(self, tell: Callable[[Attempt, Outcome, int], None], most: int) -> None:
        self.tell = tell
        self.most = most
        self._waiting: list[tuple[Attempt, Outcome, int]] = []
        #: How many there were a turn of the event loop ago.
        self._seen = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def put_off(self, attempt: Attempt, outcome: Outcome, at: int) -> None:
        """Tell it when a turn of the event loop has ended nothing, or there are too many."""
        self._waiting.append((attempt, outcome, at))
        if len(self._waiting) == 1:
            self._look_again()

    def _look_again(self) -> None:
        self._seen = len(self._waiting)
        asyncio.get_running_loop().call_soon(self._look)

    def _look(self) -> None:
        if self._seen < len(self._waiting) < self.most:
            self._look_again()
        else:
            self.tell_all()

    def tell_all(self) -> None:
        """Tell them now: somebody looks at what is in hand."""
        waiting, self._waiting = self._waiting, []
        for attempt, outcome, at in waiting:
            self.tell(attempt, outcome, at)
