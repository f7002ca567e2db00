"""The executor: carries out one kind of target."""

from __future__ import annotations

from typing import Protocol

from tickwell.domain.execution import Claim
from tickwell.domain.outcome import Outcome


class Executor(Protocol):
    """Runs one attempt; failure is an outcome, not an exception. Cancelling the task cancels it."""

    def abilities(self) -> frozenset[str]:
        """What it can run, as targets name it."""
        ...

    async def run(self, claim: Claim) -> Outcome:
        """Carry out the attempt. The caller enforces the hard timeout by cancelling."""
        ...
