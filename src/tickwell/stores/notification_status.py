"""Whether notifications arrive, as log lines: one when they stop, and one when they are back."""

from __future__ import annotations

import asyncio

from tickwell.log import events as lines
from tickwell.ports.notifier import FAILURES

#: Seconds until it is logged that notifications stopped: a server that is away for a moment is
#: logged by the loops that need it, and its notifications come back with it.
PATIENCE = 30.0


class NotificationStatus:
    """The state of one listening connection; a failed try in the same state makes no line."""

    def __init__(self, poll: float) -> None:
        self._poll = poll
        self._lost_at: float | None = None
        self._is_logged = False
        self._was_heard = False
        self._tries = 0

    def is_lost(self, name: str, why: str) -> None:
        """It cannot be listened."""
        now = asyncio.get_running_loop().time()
        self._tries += 1
        FAILURES.count += 1
        if self._lost_at is None:
            self._lost_at = now
        is_over = now - self._lost_at >= PATIENCE or not self._was_heard
        if is_over and not self._is_logged:
            self._is_logged = True
            lines.NOTIFICATIONS_LOST.log(source=name, reason=why, poll=self._poll)

    def is_back(self, name: str) -> None:
        """It is listened again, or for the first time."""
        if self._lost_at is not None and self._is_logged:
            seconds = round(asyncio.get_running_loop().time() - self._lost_at, 1)
            lines.NOTIFICATIONS_RESTORED.log(source=name, seconds=seconds, failures=self._tries)
        elif not self._was_heard:
            lines.NOTIFICATIONS_STARTED.log(source=name)
        self._lost_at, self._is_logged, self._tries = None, False, 0
        self._was_heard = True
