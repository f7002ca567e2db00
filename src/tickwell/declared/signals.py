"""Signals that end a process: the first drains it, one that comes again ends it at once."""

from __future__ import annotations

import asyncio
import os
import signal

#: Seconds in which signals are one request: `timeout`, a terminal or a service manager signals
#: the whole group, and a program in between hands its own on.
ONE_REQUEST = 1.0


class Repeats:
    """Tells a request that is made again from one that comes by two ways."""

    def __init__(self, within: float = ONE_REQUEST) -> None:
        self._within = within
        self._heard = self._over = False

    def hear(self) -> bool:
        """Whether the signal that came now repeats the request; in the event loop."""
        if not self._heard:
            self._heard = True
            asyncio.get_running_loop().call_later(self._within, self._end)
        return self._over

    def _end(self) -> None:
        self._over = True


def end_by(number: signal.Signals) -> None:
    """End this process as the signal would, had nobody listened; others recover what ran."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
