"""Requests that are made inside `transaction.atomic()` belong to that transaction."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Unpack

from django.db import connections

from tickwell.declared.blocking import Blocking
from tickwell.declared.internals import internals
from tickwell.declared.owner_loop import OwnerLoop
from tickwell.declared.policies import UniqueOptions
from tickwell.declared.read_models import Execution, execution_of
from tickwell.domain.trigger.duration import Duration
from tickwell.domain.unique import uniqueness
from tickwell.errors import InvalidInput, NotFound
from tickwell.executors.jsonable import jsonable
from tickwell.ports.transactional import TransactionalStore
from tickwell.services.time import Moment, moment_of

if TYPE_CHECKING:
    from tickwell.contrib.django.project_scheduler import ProjectScheduler


class TransactionalBlocking(Blocking):
    """Blocking calls; a trigger inside `atomic()` commits or rolls back with its block."""

    def __init__(self, scheduler: ProjectScheduler, owner: OwnerLoop, alias: str | None) -> None:
        super().__init__(scheduler, owner)
        self._scheduler = scheduler
        self._alias = alias
        #: Names of task jobs that this process has seen in the store.
        self._ensured: set[str] = set()

    def trigger(
        self,
        name: str,
        payload: Any = None,
        *,
        key: str | None = None,
        **unique: Unpack[UniqueOptions],
    ) -> Execution[Any]:
        """Run a job now, or once the transaction commits."""
        if (connection := self._in_transaction()) is None:
            return super().trigger(name, payload, key=key, **unique)
        return self._record(connection, name, payload, None, key=key, unique=unique)

    def trigger_at(
        self,
        when: datetime,
        name: str,
        payload: Any = None,
        *,
        key: str | None = None,
        **unique: Unpack[UniqueOptions],
    ) -> Execution[Any]:
        """Run a job at an instant, if the transaction commits."""
        if (connection := self._in_transaction()) is None:
            return super().trigger_at(when, name, payload, key=key, **unique)
        return self._record(
            connection, name, payload, moment_of(when, "when"), key=key, unique=unique
        )

    def trigger_in(
        self,
        delay: Duration,
        name: str,
        payload: Any = None,
        *,
        key: str | None = None,
        **unique: Unpack[UniqueOptions],
    ) -> Execution[Any]:
        """Run a job after a while, if the transaction commits."""
        if (connection := self._in_transaction()) is None:
            return super().trigger_in(delay, name, payload, key=key, **unique)
        return self._record(
            connection, name, payload, moment_of(delay, "delay"), key=key, unique=unique
        )

    def ensure(self, name: str) -> None:
        """Have the job of a task for another queue or priority in the store."""
        if name not in self._ensured:
            connection = self._in_transaction()
            refuse = lambda: None if connection is None else _require_lock(connection, name)  # noqa: E731
            task_job = self._scheduler.task_jobs[name]
            self.call(lambda: task_job.ensure(name, self._scheduler, refuse))
            self._ensured.add(name)

    def _in_transaction(self) -> Any:
        """Django's connection, if a transaction is open on it and the store takes part."""
        if self._alias is None or not isinstance(
            internals(self._scheduler).store, TransactionalStore
        ):
            return None
        connection = connections[self._alias]
        return connection if connection.in_atomic_block else None

    def _record(
        self,
        connection: Any,
        name: str,
        payload: Any,
        run_at: Moment | None,
        *,
        key: str | None,
        unique: UniqueOptions,
    ) -> Execution[Any]:
        connection.validate_no_broken_transaction()
        document, rule = jsonable(payload), uniqueness(unique)

        def record() -> Execution[Any]:
            with connection.wrap_database_errors:
                made = self._scheduler.transactions.record(
                    connection.connection, name, document, key=key, run_at=run_at, unique=rule
                )
                return execution_of(made, name)

        try:
            execution = record()
        except NotFound:
            if not self._scheduler.declares(name):
                raise
            _require_lock(connection, name)
            self.call(lambda: self._scheduler.add_one_declared(name))
            execution = record()
        connection.on_commit(self._scheduler.wake, robust=True)
        return execution


def _require_lock(connection: Any, name: str) -> None:
    """Refuse to write beside a transaction of SQLite, which may hold the only write lock."""
    if connection.vendor == "sqlite":
        raise InvalidInput(
            f"the store does not have the job {name!r} yet, or has it with other policies",
            field="job",
            hint="Run manage.py migrate, or ask for it once outside of a transaction",
        )
