"""Which queues a broker on Redis has: those that a Celery worker has consumed from."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

#: Seconds between two scans at least, and how many times as long as a scan took.
BETWEEN_SCANS, SCAN_LOAD = 30.0, 100


class RedisQueues:
    """Looks queues up by kombu's bindings, with one SCAN for all that are not found at once."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._lock = threading.Lock()
        #: What the last scan found, and when the next one may start.
        self._bound: frozenset[str] = frozenset()
        self._next_scan = 0.0

    def have(self, channel: Any, queue: str) -> bool:
        """Whether the queue is bound to an exchange."""
        if any(queue == bound[-1] for bound in channel.get_table(queue)):
            return True  # as Celery does it, to an exchange of the queue's name
        with self._lock:
            started = self._monotonic()
            if started >= self._next_scan:
                self._bound = frozenset(_bound_queues(channel))
                ended = self._monotonic()
                self._next_scan = ended + max(BETWEEN_SCANS, (ended - started) * SCAN_LOAD)
            return queue in self._bound


def _bound_queues(channel: Any) -> set[str]:
    """Of all exchanges. Kombu has no list of them: a SCAN reads the names of all keys."""
    pattern = channel.keyprefix_queue % "*"
    keys = channel.client.scan_iter(match=pattern, count=1000)
    names = [key.decode() if isinstance(key, bytes) else key for key in keys]
    tables = [channel.get_table(name.removeprefix(pattern[:-1])) for name in names]
    return {bound[-1] for table in tables for bound in table}
