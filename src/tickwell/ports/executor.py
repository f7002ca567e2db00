"""The executor: carries out targets."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

from tickwell.domain.execution import Claim, OutcomeKind
from tickwell.domain.job import Job
from tickwell.domain.outcome import Outcome


class Sort(StrEnum):
    """Which kind of a worker's capacity an attempt takes."""

    #: A task of the event loop.
    TASK = "task"
    #: A thread.
    THREAD = "thread"


class Killed(asyncio.CancelledError):
    """The attempt was asked to stop, did not within its grace period, and was ended by force."""


class Executor(Protocol):
    """Runs one attempt; failure is an outcome, not an exception."""

    def abilities(self) -> Mapping[Sort, frozenset[str]]:
        """What it can run, as targets name it, by the capacity that it takes."""
        ...

    async def close(self) -> None:
        """Let go of what is held open, and of attempts that cannot be stopped."""
        ...

    async def refusal(self, job: Job) -> str:
        """Why this process may not run the job although it can; empty: it may.

        By its settings, or for want of a key: what says nothing of the job to another process.
        """
        ...

    def prepare(self, job: Job) -> None:
        """An instant of it is near: begin to load what would take a while then."""
        ...

    async def run(self, claim: Claim) -> Outcome:
        """Carry out the attempt.

        Cancelling the task asks it to stop, and says why by the kind of outcome that it brings as
        the first argument of `CancelledError`; it may take its time, or ignore it: the worker ends
        the attempt at its hard timeout all the same. An executor that ends it by force raises
        `Killed`. An outcome that is `not_here` is no attempt: the execution goes back, and this
        worker leaves the job to others.
        """
        ...


class Conditions(Protocol):
    """Asks the conditions of jobs, before their fires run."""

    async def ask(self, claim: Claim) -> Outcome | None:
        """What becomes of the claim instead of a run; None: it runs.

        A condition that cannot be asked is a failed attempt, as one that raises is.
        """
        ...

    async def refusal(self, job: Job) -> str:
        """Why this process cannot ask the job's condition; empty: it can."""
        ...

    async def close(self) -> None:
        """Let go of what is held open."""
        ...


class NoConditions:
    """Where none can be asked: such jobs are left to other workers."""

    async def ask(self, claim: Claim) -> Outcome | None:
        """It goes back, and another worker takes it."""
        why = await self.refusal(claim.job)
        return Outcome(kind=OutcomeKind.RELEASED, error=why, not_here=True)

    async def refusal(self, job: Job) -> str:
        """Nothing is asked here."""
        return "this worker does not ask conditions"

    async def close(self) -> None:
        """Nothing is held open."""
