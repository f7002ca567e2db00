"""A memory of deliveries in one process."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from enum import Enum
from threading import Lock
from typing import Protocol

from tickwell.clock import wall_millis
from tickwell.receivers.verify import Delivery


class Verdict(Enum):
    """What to do with a delivery, and the status to answer with where the app is not called."""

    #: Call the app.
    NEW = 0
    #: Done before: say so, do nothing.
    DONE = 200
    #: An attempt of it is under way here: the sender comes again (425 is worth another attempt).
    BUSY = 425
    #: A later attempt was here already: this one was given up by its sender.
    STALE = 409


class Seen(Protocol):
    """A memory of deliveries. Shared by all processes of a receiver if it is to hold there."""

    def begin(self, delivery: Delivery) -> Verdict:
        """Take it on, in one atomic step: of two at once only one is new."""
        ...

    def end(self, delivery: Delivery, *, done: bool) -> None:
        """It took effect, or it did not and may come again."""
        ...


class AsyncSeen(Protocol):
    """The same, for a memory that is asked over a network."""

    def begin(self, delivery: Delivery) -> Awaitable[Verdict]:
        """As `Seen.begin`."""
        ...

    def end(self, delivery: Delivery, *, done: bool) -> Awaitable[None]:
        """As `Seen.end`."""
        ...


#: Seconds that a delivery is remembered: longer than its sender tries.
MEMORY = 3 * 86_400
MOST = 100_000
_AT_A_TIME = 8


class _Entry:
    __slots__ = ("attempt", "busy", "done", "until")

    def __init__(self) -> None:
        self.attempt = 0
        self.busy = False
        self.done = False
        self.until = 0


class MemorySeen:
    """Remembers ids for a while, and not more than so many; safe to share between threads."""

    def __init__(
        self,
        *,
        seconds: float = MEMORY,
        most: int = MOST,
        now: Callable[[], int] = wall_millis,
    ) -> None:
        self._life = int(seconds * 1000)
        self._most = most
        self._now = now
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._lock = Lock()

    def begin(self, delivery: Delivery) -> Verdict:
        with self._lock:
            now = self._now()
            self._forget(now)
            entry = self._entries.setdefault(delivery.id, _Entry())
            self._entries.move_to_end(delivery.id)
            entry.until = now + self._life
            if entry.done:
                return Verdict.DONE
            if delivery.attempt < entry.attempt:
                return Verdict.STALE
            entry.attempt = delivery.attempt
            if entry.busy:
                return Verdict.BUSY
            entry.busy = True
            return Verdict.NEW

    def end(self, delivery: Delivery, *, done: bool) -> None:
        with self._lock:
            entry = self._entries.get(delivery.id)
            if entry is not None:
                entry.busy = False
                entry.done = entry.done or done

    def _forget(self, now: int) -> None:
        """Oldest first, a few at a time; what is under way is kept, however many there are."""
        for _ in range(_AT_A_TIME):
            id, entry = next(iter(self._entries.items()), ("", None))
            if entry is None or (entry.until > now and len(self._entries) < self._most):
                return
            if entry.busy and entry.until > now:
                self._entries.move_to_end(id)
            else:
                del self._entries[id]
