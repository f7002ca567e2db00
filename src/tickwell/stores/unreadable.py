"""Jobs that this process cannot read or plan, while others perhaps can.

Nothing is written about them: an older process must not hold up a newer one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from tickwell.domain.policy import MINUTE
from tickwell.ports.records import Unreadable

K = TypeVar("K", int, str)


@dataclass(frozen=True, slots=True)
class _LeftOut:
    since: int
    #: Its definition is sound: what it has pending may run.
    only_planning: bool

    def lasts(self, now: int) -> bool:
        return self.since <= now < self.since + MINUTE


class UnreadableJobs(Generic[K]):
    """Left out for a minute each, and told of once in it. Keys are those of the store's rows."""

    def __init__(self) -> None:
        self._left_out: dict[K, _LeftOut] = {}
        self._untold: list[Unreadable] = []

    def add(self, key: K, id: str, error: Exception, now: int, *, planning: bool = False) -> None:
        """Leave a job out from now on."""
        known = self._left_out.get(key)
        if known is None or not known.lasts(now):
            self._untold.append(Unreadable(job=id, why=f"{type(error).__name__}: {error}"))
        self._left_out[key] = _LeftOut(now, only_planning=planning)

    def keys(self, now: int, *, planning: bool = False) -> list[K]:
        """What to leave out: of everything, or of planning, which takes sound definitions too."""
        if not self._left_out:
            return []
        # Copied first: another thread of the store may add one meanwhile.
        lasting = {key: out for key, out in list(self._left_out.items()) if out.lasts(now)}
        self._left_out = lasting
        return [key for key, out in list(lasting.items()) if planning or not out.only_planning]

    def news(self) -> list[Unreadable]:
        """What nobody was told yet."""
        told, self._untold = self._untold, []
        return told
