"""Jobs and runs by name, with datetimes and durations as people write them, in one project."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Unpack

from tickwell.clock import Clock, to_datetime, to_millis
from tickwell.declared.owner_loop import OwnerLoop, in_owner
from tickwell.declared.policies import Policies, check_policies
from tickwell.declared.waiting import until_ended
from tickwell.domain.change import Changed
from tickwell.domain.event import Events
from tickwell.domain.execution import Execution
from tickwell.domain.job import Entry, Job, JobState
from tickwell.domain.note import Output, Progress
from tickwell.domain.target import Target
from tickwell.domain.trigger import OnDemand, Trigger
from tickwell.domain.trigger.duration import Duration, parse_duration
from tickwell.domain.trigger.moment import exact
from tickwell.errors import InvalidTrigger, NotFound
from tickwell.executors.jsonable import jsonable
from tickwell.ports.records import ExecutionFilter, JobFilter
from tickwell.services.executions.executions import Executions
from tickwell.services.jobs.jobs import Jobs
from tickwell.services.jobs.save_limits import require_effective
from tickwell.services.payload import checked
from tickwell.services.time import After, Moment, moment_of

FOREVER = float("inf")


class Named:
    """What a library user asks of jobs and executions."""

    app: str
    project: str
    clock: Clock
    events: Events
    jobs: Jobs
    executions: Executions
    _owner: OwnerLoop

    async def open(self) -> None:
        """Open the store without running anything: to add, change and read jobs."""

    @in_owner
    async def add(
        self, name: str, trigger: Trigger | None, target: Target, **policies: Unpack[Policies]
    ) -> Entry:
        """Add a job that no code declares; without a trigger it runs on demand."""
        await self.open()
        return await self.jobs.add(self._definition(name, trigger, target, dict(policies)))

    @in_owner
    async def get(self, name: str) -> Entry:
        """A job and its cursor, by its name or id."""
        await self.open()
        return await self.jobs.get(self.project, name)

    @in_owner
    async def edit(
        self,
        name: str,
        *,
        trigger: Trigger | None = None,
        target: Target | None = None,
        **policies: Unpack[Policies],
    ) -> Entry:
        """Change what is given; refused if somebody else edits the job at the same moment."""
        job = (await self.get(name)).job
        check_policies(policies)
        given: dict[str, Any] = dict(policies)
        if trigger is not None:
            given["trigger"] = _require_trigger(trigger)
        if target is not None:
            given["target"] = target
        if "payload" in given:
            given["payload"] = checked(jsonable(given["payload"]))
        changed = replace(job, **given)
        return (await self.jobs.edit(self.project, job.id, changed, job.version)).entry

    @in_owner
    async def pause(
        self,
        name: str,
        *,
        why: str = "",
        until: datetime | Duration | None = None,
        by: str | None = None,
    ) -> Changed:
        """Stop a job from firing, for a while or until it is resumed."""
        await self.open()
        end = None if until is None else moment_of(until, "until")
        author = self.app if by is None else by
        return (await self.jobs.pause(self.project, [name], by=author, why=why, until=end))[0]

    @in_owner
    async def resume(self, name: str) -> Changed:
        """Let a paused job fire again from now on."""
        await self.open()
        return (await self.jobs.resume(self.project, [name]))[0]

    @in_owner
    async def delete(self, name: str) -> Changed:
        """Take a job away; its history stays until retention ends."""
        await self.open()
        return (await self.jobs.delete(self.project, [name]))[0]

    @in_owner
    async def next_fires(self, name: str, count: int = 10) -> Sequence[datetime]:
        """The next fire times of a job as far as they are known."""
        await self.open()
        fires = await self.jobs.next_fires(self.project, name, count)
        return [to_datetime(fire) for fire in fires]

    @in_owner
    async def trigger(self, name: str, payload: Any = None, *, key: str | None = None) -> Execution:
        """Run a job now. The same key again answers with the same execution."""
        return await self._request(name, payload, key)

    @in_owner
    async def trigger_at(
        self, when: datetime, name: str, payload: Any = None, *, key: str | None = None
    ) -> Execution:
        """Run a job at an instant: a datetime that says its time zone; a past one means now."""
        return await self._request(name, payload, key, to_millis(exact(when, "when")))

    @in_owner
    async def trigger_in(
        self, delay: Duration, name: str, payload: Any = None, *, key: str | None = None
    ) -> Execution:
        """Run a job after a while: "10m", or a timedelta."""
        return await self._request(name, payload, key, After(parse_duration(delay, field="delay")))

    async def _request(
        self, name: str, payload: Any, key: str | None, run_at: Moment | None = None
    ) -> Execution:
        await self.open()
        given = jsonable(payload)
        while True:
            try:
                return await self.executions.trigger(
                    self.project, name, payload=given, key=key, run_at=run_at
                )
            except NotFound:
                if not await self._add_declared(name):
                    raise

    async def _add_declared(self, name: str) -> bool:
        """Add a job that code declares and no start has brought to the store; whether code does."""
        return False

    @in_owner
    async def execution(self, id: str) -> Execution:
        """One execution with its attempts."""
        await self.open()
        return await self.executions.get(self.project, id)

    @in_owner
    async def wait(self, execution: Execution | str, within: Duration | None = None) -> Execution:
        """An execution, or that of an id, once it has ended; as it stands when the time is over."""
        id = execution if isinstance(execution, str) else execution.id
        limit = FOREVER if within is None else parse_duration(within, field="within") / 1000
        return await until_ended(id, self.execution, self.events, self.clock, limit)

    @in_owner
    async def progress(self, id: str) -> Progress | None:
        """How far the attempt under way is, by its own account."""
        await self.open()
        return await self.executions.progress(self.project, id)

    @in_owner
    async def output(self, id: str) -> Sequence[Output]:
        """What the attempts of an execution printed and logged, oldest attempt first."""
        await self.open()
        return await self.executions.output(self.project, id)

    @in_owner
    async def history(self, name: str, limit: int = 100) -> Sequence[Execution]:
        """The newest executions of a job, newest first."""
        job = (await self.get(name)).job
        where = ExecutionFilter(project=self.project, job_id=job.id)
        return (await self.executions.list(where, limit=limit)).items

    @in_owner
    async def cancel(self, id: str) -> None:
        """End an execution that has not started; ask the worker of one that runs."""
        await self.open()
        await self.executions.cancel(self.project, [id])

    @in_owner
    async def revive(self, id: str) -> None:
        """Let a dead execution run again under its id, with a new budget."""
        await self.open()
        await self.executions.revive(self.project, [id])

    @in_owner
    async def list(
        self, *, search: str | None = None, state: JobState | None = None, tag: str | None = None
    ) -> Sequence[Entry]:
        """All jobs of the project, by name."""
        await self.open()
        where = JobFilter(project=self.project, search=search, tag=tag)
        if state is not None:
            where = replace(where, states=frozenset({JobState(state)}))
        page = await self.jobs.list(where)
        found = page.items
        while page.cursor is not None:
            page = await self.jobs.list(where, page.cursor)
            found += page.items
        return found

    def _definition(
        self, name: str, trigger: Trigger | None, target: Target, policies: dict[str, Any]
    ) -> Job:
        check_policies(policies)
        policies["payload"] = checked(jsonable(policies.get("payload")))
        chosen = OnDemand() if trigger is None else _require_trigger(trigger)
        job = Job(id="", name=name, trigger=chosen, target=target, project=self.project, **policies)
        require_effective(job.misfire)
        return job


def _require_trigger(trigger: object) -> Trigger:
    if isinstance(trigger, list | tuple):
        raise InvalidTrigger(
            f"a {type(trigger).__name__} is not a trigger",
            field="trigger",
            hint="For several in one job: Union(a, b), or a | b",
        )
    if inspect.isroutine(trigger):
        raise InvalidTrigger(
            f"the function {getattr(trigger, '__name__', '')!r} is not a trigger",
            field="trigger",
            hint="Write @scheduler.job() with parentheses; the function goes below it",
        )
    if not isinstance(trigger, Trigger):
        raise InvalidTrigger(
            f"{trigger!r} is not a trigger",
            field="trigger",
            hint='Write Cron("0 9 * * *") or Every("5m"), or leave it out: on demand',
        )
    return trigger
