"""Whether notifications arrive, as log lines: one when they stop, and one when they are back."""

from __future__ import annotations

import asyncio
import logging


class Hearing:
    """The state of one listening connection; a failed try in the same state makes no line."""

    def __init__(self, log: logging.Logger, poll: float) -> None:
        self._log = log
        self._poll = poll
        self._lost_at: float | None = None
        self._tries = 0

    def is_lost(self, name: str, why: str) -> None:
        """It cannot be listened."""
        self._tries += 1
        if self._lost_at is None:
            self._lost_at = asyncio.get_running_loop().time()
            self._log.warning(
                "%s cannot be listened to (%s): looking every %g s instead", name, why, self._poll
            )

    def is_back(self, name: str) -> None:
        """It is listened again, or for the first time."""
        if self._lost_at is not None:
            seconds = asyncio.get_running_loop().time() - self._lost_at
            self._log.warning(
                "%s is listened to again after %.1f s and %d failed tries",
                name,
                seconds,
                self._tries,
            )
        self._lost_at, self._tries = None, 0
