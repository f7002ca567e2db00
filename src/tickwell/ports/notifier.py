"""The notifier: an optional wake-up channel. It shortens rests; correctness never depends on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(slots=True)
class Failures:
    """How often the wake-up channels of this process failed, for metrics."""

    count: int = 0


#: One for the process: channels are made deep inside of stores.
FAILURES = Failures()


class Notifier(Protocol):
    """Tells that another process wrote something that a loop here may be waiting for."""

    async def changed(self, seconds: float) -> bool:
        """Wait up to so long for a write by another process; False when the wait was in vain."""
        ...


class Turn(Protocol):
    """Whose turn it is to plan, so that one planner works while the others rest.

    A hint as well: two that plan at once do the same work, and the store's rows decide.
    """

    async def rest(self) -> float:
        """Seconds that another planner may still be at it; 0: plan now."""
        ...
