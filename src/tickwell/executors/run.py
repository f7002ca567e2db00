"""What a handler may know about its own attempt."""

from __future__ import annotations

import threading
from datetime import datetime
from typing import Any

from tickwell.clock import to_datetime
from tickwell.domain.execution import Claim


class Run:
    """The attempt under way. A handler gets it by a parameter that is annotated with `Run`."""

    __slots__ = ("_cancelled", "_claim")

    def __init__(self, claim: Claim) -> None:
        self._claim = claim
        self._cancelled = threading.Event()

    @property
    def id(self) -> str:
        """The execution's id, the same for all its attempts: what to deduplicate effects by."""
        return self._claim.id

    @property
    def job(self) -> str:
        """The job's name."""
        return self._claim.job.name

    @property
    def attempt(self) -> int:
        """The attempt's number; it only ever grows."""
        return self._claim.attempt

    @property
    def fire_time(self) -> datetime:
        """The nominal instant of the execution, whatever the delay."""
        return to_datetime(self._claim.fire_time)

    @property
    def payload(self) -> Any:
        """The payload, as JSON gave it."""
        return self._claim.payload

    @property
    def cancelled(self) -> bool:
        """Whether the attempt was asked to stop; a sync handler looks at it now and then."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Ask the handler to stop."""
        self._cancelled.set()
