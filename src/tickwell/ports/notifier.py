"""The notifier: an optional wake-up channel. It shortens rests; correctness never depends on it."""

from __future__ import annotations

from typing import Protocol


class Notifier(Protocol):
    """Tells that another process wrote something that a loop here may be waiting for."""

    async def changed(self, seconds: float) -> bool:
        """Wait up to so long for a write by another process; False when the wait was in vain."""
        ...
