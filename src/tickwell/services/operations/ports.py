"""What operations ask of others: that a change is written down, and that a limit allows it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, Protocol

from tickwell.domain.job import Job
from tickwell.services.access.actor import Actor


class Auditor(Protocol):
    """Writes down who changed what. Every mutation ends with exactly one entry."""

    async def record(
        self,
        actor: Actor,
        action: str,
        subject: str,
        before: Any,
        after: Any,
        *,
        project: str | None = None,
    ) -> None:
        """Note that the actor did "job.pause" to "job/<id>"; before and after are documents.

        In the log of the actor's project, unless another is named.
        """
        ...


class Limiter(Protocol):
    """Refuses with `LimitReached` what would pass a limit of the actor's project."""

    def room_for(
        self, actor: Actor, jobs: Sequence[Job], replaced: Job | None = None
    ) -> AbstractAsyncContextManager[None]:
        """Held while jobs are added, or one is put in the place of another."""
        ...

    async def check_runs(self, actor: Actor, count: int, payload: Any = None) -> None:
        """Asked before so many runs are requested, each with this payload if it has its own."""
        ...


class Unaudited:
    """Writes nothing down: for a process that keeps no audit log."""

    async def record(
        self,
        actor: Actor,
        action: str,
        subject: str,
        before: Any,
        after: Any,
        *,
        project: str | None = None,
    ) -> None:
        """Nothing to do."""


class Unlimited:
    """Allows everything."""

    def room_for(
        self, actor: Actor, jobs: Sequence[Job], replaced: Job | None = None
    ) -> AbstractAsyncContextManager[None]:
        """Nothing to refuse."""
        return nullcontext()

    async def check_runs(self, actor: Actor, count: int, payload: Any = None) -> None:
        """Nothing to refuse."""
