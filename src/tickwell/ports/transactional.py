"""Stores that record a run on the caller's own connection, as part of the caller's transaction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from tickwell.domain.execution import NewExecution
from tickwell.domain.job import Job

#: The execution to record, of this job, at this instant of the store's time.
Maker = Callable[[Job, int], NewExecution]


@runtime_checkable
class TransactionalStore(Protocol):
    """Nothing is committed here, and nothing is rolled back but what the call itself began."""

    def add_on(self, connection: Any, project: str, job_key: str, make: Maker) -> str:
        """Record a requested run; its id, or that of the run which has its key already.

        Raises `InvalidInput` for a connection of an unknown kind or without a transaction,
        `StoreRefused` for one to another database, `NotFound` when there is no such job,
        `Conflict` when the run of the key has another payload. Errors of the driver are the
        caller's and stay as they are.
        """
        ...

    async def add_on_async(self, connection: Any, project: str, job_key: str, make: Maker) -> str:
        """The same on a connection that has to be awaited."""
        ...
