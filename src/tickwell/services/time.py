"""What a service knows of time."""

from __future__ import annotations

from typing import Protocol


class Time(Protocol):
    """A clock that can be read; every `tickwell.clock.Clock` is one."""

    def now(self) -> int:
        """The store's time."""
        ...
