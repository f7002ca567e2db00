"""Runs that are requested in the caller's own transaction: they commit or roll back with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tickwell.domain.coercion import check_key
from tickwell.domain.execution import Execution, Kind, NewExecution
from tickwell.domain.fairness import Fairness
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Job
from tickwell.domain.payload import checked
from tickwell.domain.planning import new_execution
from tickwell.domain.unique import Uniqueness, uniqueness_of
from tickwell.errors import InvalidInput
from tickwell.ids import Random, new_id
from tickwell.ports.store import Upkeep
from tickwell.ports.transactional import Maker, TransactionalStore
from tickwell.services.executions.executions import as_recorded
from tickwell.services.time import Moment, instant_of


class Transactions:
    """Asks for runs on connections that are not ours."""

    def __init__(self, store: Upkeep, project: str, random: Random, fairness: Fairness) -> None:
        self.store = store
        self.project = project
        self.random = random
        self.fairness = fairness
        #: Refuses a payload that the job's handler would not take.
        self.check: Callable[[Job, Any], None] = lambda _job, _payload: None

    def trigger(
        self, connection: Any, job_key: str, payload: Any = None, *, key: str | None = None
    ) -> str:
        """Run a job once the transaction on this connection commits; the execution's id.

        The same key answers with the same id; with another payload it is a `Conflict`.
        """
        return self.record(connection, job_key, payload, key=key).id

    def record(
        self,
        connection: Any,
        job_key: str,
        payload: Any = None,
        *,
        key: str | None = None,
        run_at: Moment | None = None,
        unique: Uniqueness | None = None,
    ) -> Execution:
        """The same, now or at an instant; the execution as the transaction has it."""
        made: list[tuple[NewExecution, int]] = []
        make = self._maker(payload, key, run_at, unique)

        def make_and_tell(job: Job, now: int) -> NewExecution:
            made.append((make(job, now), now))
            return made[-1][0]

        id = self._store().add_on(connection, self.project, job_key, make_and_tell)
        return replace(as_recorded(*made[-1]), id=id)

    async def trigger_async(
        self, connection: Any, job_key: str, payload: Any = None, *, key: str | None = None
    ) -> str:
        """The same on a connection that has to be awaited."""
        make = self._maker(payload, key)
        return await self._store().add_on_async(connection, self.project, job_key, make)

    def _store(self) -> TransactionalStore:
        if not isinstance(self.store, TransactionalStore):
            raise InvalidInput(
                f"{self.store.name} does not support transactions",
                field="connection",
                hint="Use sqlite:/// or postgresql://",
            )
        return self.store

    def _maker(
        self,
        payload: Any,
        key: str | None,
        run_at: Moment | None = None,
        unique: Uniqueness | None = None,
    ) -> Maker:
        check_key(key)
        own = checked(payload)

        def make(job: Job, now: int) -> NewExecution:
            self.check(job, job.payload if payload is None else payload)
            rule = uniqueness_of(job, unique)
            if rule is not None:
                # Whether the same run is there is decided under a lock, which would be held as long
                # as the transaction.
                raise InvalidInput(
                    f"a request for {job.name!r} is compared with others, which cannot be done in a"
                    " transaction",
                    field="unless" if rule.debounce is None else "debounce",
                    hint="Request it after the commit",
                )
            new = new_execution(
                job,
                now if run_at is None else max(instant_of(run_at, now), now),
                id=new_id(now, self.random),
                kind=Kind.REQUEST,
                overlap=Overlap.ALLOW,
                payload=own,
            )
            new.key = key
            new.rank += self.fairness.delay(job.project, now)
            return new

        return make
