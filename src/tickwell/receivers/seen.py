"""What a receiver remembers of webhooks, so that each takes effect once."""

from __future__ import annotations

from collections.abc import Awaitable
from enum import Enum
from typing import Protocol

from tickwell.receivers.delivery import Delivery


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
