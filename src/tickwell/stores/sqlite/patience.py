"""Waiting for the write lock: short, jittered, growing pauses up to a bound."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from random import Random
from threading import Event
from typing import TypeVar

from tickwell.stores.sqlite.errors import is_busy

T = TypeVar("T")

#: Seconds. SQLite's own busy handler waits longer and longer, so that of four processes with
#: synchronous=FULL one did all the work and three did none; short pauses keep the chances even.
SHORTEST = 0.001
LONGEST = 0.005
GROWTH = 1.3


class Patience:
    """Tries again while another process holds the lock."""

    def __init__(self, total: float, random: Random) -> None:
        self.total = total
        self._random = random
        #: Never set: a pause that holds no lock of the interpreter.
        self._pause = Event()

    def run(self, action: Callable[[], T]) -> tuple[T, bool]:
        """What the action answers, and whether it had to wait. The last refusal is raised."""
        waited, pause = 0.0, SHORTEST
        while True:
            try:
                return action(), waited > 0
            except sqlite3.Error as error:
                if not is_busy(error) or waited >= self.total:
                    raise
            length = pause * self._random.uniform(0.5, 1.5)
            self.rest(length)
            waited += length
            pause = min(pause * GROWTH, LONGEST)

    def rest(self, seconds: float) -> None:
        """Let others have the lock."""
        self._pause.wait(seconds)
