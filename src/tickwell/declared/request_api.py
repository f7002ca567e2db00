"""Requests to run jobs, by the jobs' names."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Unpack

from tickwell.clock import to_millis
from tickwell.declared.internals import Internals
from tickwell.declared.owner_loop import OwnerLoop, in_owner
from tickwell.declared.policies import UniqueOptions
from tickwell.declared.read_models import Execution, execution_of
from tickwell.domain.trigger.duration import Duration, parse_duration
from tickwell.domain.trigger.moment import exact
from tickwell.domain.unique import uniqueness
from tickwell.errors import InvalidInput, NotFound
from tickwell.executors.jsonable import jsonable
from tickwell.services.time import After, Moment


class RequestApi:
    """How a library user triggers a job."""

    project: str
    _inside: Internals
    _owner: OwnerLoop

    async def open(self) -> None:
        """Open the store without running anything: to add, change and read jobs."""

    @in_owner
    async def trigger(
        self,
        name: str,
        payload: Any = None,
        *,
        key: str | None = None,
        **unique: Unpack[UniqueOptions],
    ) -> Execution[Any]:
        """Run a job now.

        Repeating a request with its key returns the same execution; with another payload it raises
        `Conflict`. `unless` and `debounce` say what becomes of it where the same run is there.
        """
        return await self._request(name, payload, key, unique)

    @in_owner
    async def trigger_at(
        self,
        when: datetime,
        name: str,
        payload: Any = None,
        *,
        key: str | None = None,
        **unique: Unpack[UniqueOptions],
    ) -> Execution[Any]:
        """Run a job at a moment: a datetime with a time zone; a past one means now."""
        return await self._request(name, payload, key, unique, to_millis(exact(when, "when")))

    @in_owner
    async def trigger_in(
        self,
        delay: Duration,
        name: str,
        payload: Any = None,
        *,
        key: str | None = None,
        **unique: Unpack[UniqueOptions],
    ) -> Execution[Any]:
        """Run a job after a delay: "10m", or a timedelta."""
        run_at = After(parse_duration(delay, field="delay"))
        return await self._request(name, payload, key, unique, run_at)

    async def _request(
        self,
        name: str,
        payload: Any,
        key: str | None,
        unique: UniqueOptions,
        run_at: Moment | None = None,
    ) -> Execution[Any]:
        for option in unique.keys() - UniqueOptions.__annotations__.keys():
            raise InvalidInput(
                "is not an option of a request",
                field=option,
                hint=f"Arguments are the payload: trigger({name!r}, {{{option!r}: …}})",
            )
        await self.open()
        document, rule = jsonable(payload), uniqueness(unique)
        while True:
            try:
                job, execution = await self._inside.executions.request(
                    self.project, name, payload=document, key=key, run_at=run_at, unique=rule
                )
            except NotFound:
                if not await self._add_declared(name):
                    raise
            else:
                found = execution_of(execution, job.name, self._inside.read_result(job))
                return found if self._inside.at_once is None else await self._inside.at_once(found)

    async def _add_declared(self, name: str) -> bool:
        """Add a job that code declares and no start has brought to the store; whether code does."""
        return False
