"""The broker of another task queue: it carries hints to workers that are not ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Hint(NamedTuple):
    """That an execution is due. The store decides who runs it: a hint may be lost or repeated."""

    queue: str
    #: The execution's id.
    id: str


class Broker(Protocol):
    """Carries hints. Every call ends within seconds, with `BrokerUnavailable` if it must."""

    async def depths(self, queues: Sequence[str]) -> list[int]:
        """How many hints wait in each queue and were not delivered yet."""
        ...

    async def send(self, hints: Sequence[Hint]) -> None:
        """Send them, in this order; after an error some may have been sent."""
        ...

    def close(self) -> None:
        """Hang up, in a moment."""
        ...
