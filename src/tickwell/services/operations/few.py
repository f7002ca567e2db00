"""A few at once for each project: what lasts long leaves room for the others."""

from __future__ import annotations

from collections import Counter

from tickwell.errors import LimitReached


class Few:
    """Counts what is under way in this process."""

    def __init__(self, most: int, what: str, *, retry_after: float) -> None:
        self._most = most
        #: In the plural, for whoever is refused.
        self._what = what
        self._retry_after = retry_after
        self._busy: Counter[str] = Counter()

    def enter(self, project: str) -> None:
        """Take a place; whoever took one leaves it in the end."""
        if self._busy[project] >= self._most:
            raise LimitReached(
                f"{self._most} {self._what} of this project are under way",
                retry_after=self._retry_after,
                hint="Wait until one of them has ended",
            )
        self._busy[project] += 1

    def leave(self, project: str) -> None:
        """Give the place back."""
        self._busy[project] -= 1
        if not self._busy[project]:
            del self._busy[project]
