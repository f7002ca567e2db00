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
    """Reports that another process wrote something that a loop here may be waiting for."""

    async def changed(self, seconds: float) -> bool:
        """Wait up to `seconds` for a write by another process; False: there was none."""
        ...


class PlannerLease(Protocol):
    """Elects the planner that works now, so that the others rest.

    Only a hint: two planners at once do the same work, and the rows of the store decide.
    """

    async def rest(self) -> float:
        """Seconds for which another planner may still hold the lease; 0: plan now."""
        ...
