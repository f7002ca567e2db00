"""A limit on long operations in flight, per project: none keeps the others waiting."""

from __future__ import annotations

from collections import Counter

from tickwell.errors import LimitReached


class InFlightLimit:
    """Counts what is in flight in this process."""

    def __init__(self, most: int, what: str, *, retry_after: float) -> None:
        self._most = most
        #: In the plural, for the error message.
        self._what = what
        self._retry_after = retry_after
        self._busy: Counter[str] = Counter()

    def enter(self, project: str) -> None:
        """Count one more, or raise `LimitReached`; each `enter` needs its `leave`."""
        if self._busy[project] >= self._most:
            raise LimitReached(
                f"{self._most} {self._what} of this project are in progress",
                retry_after=self._retry_after,
                hint="Wait until one of them ends",
            )
        self._busy[project] += 1

    def leave(self, project: str) -> None:
        """Count one less."""
        self._busy[project] -= 1
        if not self._busy[project]:
            del self._busy[project]
