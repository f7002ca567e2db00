"""A fork copies SQLite as it stands: meanwhile no file is open, and nobody is at work.

A copy that knows an open file takes locks for granted that its parent alone holds; one that was
made amid work waits for ever for a lock whose holder stayed behind.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Lock, RLock
from types import TracebackType
from weakref import WeakSet

from tickwell.errors import StoreRefused

#: Seconds that a fork waits for a call under way.
PATIENCE = 5.0


class AtWork:
    """Held while a thread uses SQLite; a fork waits for it, and lets go of what is open."""

    def __init__(self, let_go: Callable[[], None] = lambda: None) -> None:
        self.lock = Lock()
        self.let_go = let_go
        FORKS.know(self)

    def __enter__(self) -> None:
        self.lock.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.lock.release()


class Forks:
    """Those who use SQLite in this process, and the fork that is under way."""

    def __init__(self) -> None:
        #: Its holder may be interrupted by a signal, whose handler forks.
        self._under_way = RLock()
        self._all: WeakSet[AtWork] = WeakSet()
        self._held: list[AtWork] = []
        self._is_spoiled = False
        os.register_at_fork(
            before=self._before,
            after_in_parent=self._after,
            after_in_child=self._after_in_child,
        )

    def know(self, one: AtWork) -> None:
        """Wait for it when the process is forked."""
        with self._under_way:  # else one that comes just now would be missed
            self._all.add(one)

    def check(self) -> None:
        """Refuse to open a file where it could not be used safely."""
        if self._is_spoiled:
            raise StoreRefused(
                "this process was forked while its parent was at work on a SQLite file; fork"
                " before the scheduler is opened, or start a new process (multiprocessing: spawn)"
            )

    def _before(self) -> None:
        self._under_way.acquire()
        patience = PATIENCE
        for one in list(self._all):
            if one.lock.acquire(timeout=patience):
                self._held.append(one)
                one.let_go()
            else:
                patience = 0.0  # the child is refused anyway

    def _after(self) -> None:
        for one in self._held:
            one.lock.release()
        self._held.clear()
        self._under_way.release()

    def _after_in_child(self) -> None:
        self._is_spoiled = self._is_spoiled or len(self._held) < len(self._all)
        for one in self._all:
            one.lock = Lock()  # its holder stayed behind
        self._held.clear()
        self._under_way.release()


FORKS = Forks()
