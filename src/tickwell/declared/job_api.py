"""The scheduler's calls about jobs and executions, by name and with datetimes, in one project."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, TypeVar, Unpack, overload

from tickwell.clock import to_millis
from tickwell.declared.arguments import member_of, states_of, zoned_trigger
from tickwell.declared.function import JobFunction
from tickwell.declared.internals import Internals
from tickwell.declared.lifecycle import BOTH
from tickwell.declared.owner_loop import OwnerLoop, in_owner
from tickwell.declared.policies import Policies, check_policies
from tickwell.declared.read_models import (
    Changed,
    Execution,
    Job,
    Pause,
    Progress,
    Step,
    Wait,
    changed_of,
    execution_of,
    job_of,
    pause_of,
    progress_of,
    step_of,
    wait_of,
)
from tickwell.declared.request_api import RequestApi
from tickwell.declared.slot_api import SlotApi
from tickwell.declared.syncing import Synced
from tickwell.declared.waiting import until_ended
from tickwell.domain import job as records
from tickwell.domain.execution import Execution as Record
from tickwell.domain.execution import Kind, State
from tickwell.domain.job import Entry, JobState
from tickwell.domain.note import Output
from tickwell.domain.payload import checked
from tickwell.domain.project_pause import EVERYTHING
from tickwell.domain.step import WAIT, is_step
from tickwell.domain.target import Target
from tickwell.domain.trigger import Calendar, OnDemand, Trigger
from tickwell.domain.trigger.calendar import Dates, Ranges
from tickwell.domain.trigger.duration import Duration, parse_duration
from tickwell.domain.trigger.moment import exact
from tickwell.errors import InvalidInput, JobExists, NotFound, VersionConflict
from tickwell.executors.jsonable import jsonable
from tickwell.filters import ExecutionFilter, JobFilter
from tickwell.ports import records as ports
from tickwell.services.jobs.admission import require_effective
from tickwell.services.jobs.jobs_by_id import jobs_by_id
from tickwell.services.time import moment_of

FOREVER = float("inf")
#: What `add_job` does about a job of the same name.
IfExists = Literal["error", "update", "keep"]
R = TypeVar("R")
E = TypeVar("E", bound=StrEnum)


class JobApi(SlotApi, RequestApi):
    """What a library user asks of jobs and executions."""

    app: str
    project: str
    _inside: Internals
    _defaults: Policies
    _owner: OwnerLoop

    async def open(self) -> None:
        """Open the store without running anything: to add, change and read jobs."""

    async def sync(self, *, prune: bool = False) -> Synced:
        """Bring the jobs of this app in the store up to date with the code, as a start does.

        A job that is gone from the code is paused; with `prune` it is deleted.
        """
        return Synced()

    async def start(self, roles: Collection[str] = BOTH) -> None:
        """Open the store, bring declared jobs up to date, and set the engine going."""

    @in_owner
    async def add_job(
        self,
        name: str,
        trigger: Trigger | None,
        target: Target,
        *,
        if_exists: IfExists = "error",
        **policies: Unpack[Policies],
    ) -> Job:
        """Add a job that no code declares; without a trigger it runs on demand.

        If the name is taken: "error" raises `JobExists`, "update" replaces the definition, "keep"
        returns the job that is there.
        """
        if if_exists not in {"error", "update", "keep"}:
            raise InvalidInput(
                f"unknown value {if_exists!r}; expected one of error, update, keep",
                field="if_exists",
            )
        await self.open()
        job = self._definition(name, trigger, target, dict(policies))
        while True:
            try:
                return job_of(await self._inside.jobs.add(job))
            except JobExists:
                if if_exists == "error":
                    raise
            try:
                known = await self._inside.jobs.get(self.project, name)
                if if_exists == "keep":
                    return job_of(known)
                changed = await self._inside.jobs.edit(self.project, name, job, known.job.version)
                return job_of(changed.entry)
            except (NotFound, VersionConflict):
                continue  # deleted or edited by another caller meanwhile: look again

    @in_owner
    async def get_job(self, name: str) -> Job:
        """One job, by its name or id."""
        return job_of(await self._entry(name))

    @in_owner
    async def jobs(self, **where: Unpack[JobFilter]) -> Sequence[Job]:
        """All jobs of the project that match the filter, by name."""
        await self.open()
        asked = ports.JobFilter(
            project=self.project,
            queue=where.get("queue"),
            app=where.get("app"),
            tag=where.get("tag"),
            search=where.get("search"),
        )
        if (states := states_of(where.get("state"), JobState)) is not None:
            asked = replace(asked, states=states)
        page = await self._inside.jobs.list(asked)
        found = page.items
        while page.cursor is not None:
            page = await self._inside.jobs.list(asked, page.cursor)
            found += page.items
        return [job_of(entry) for entry in found]

    @in_owner
    async def edit_job(
        self,
        name: str,
        *,
        trigger: Trigger | None = None,
        target: Target | None = None,
        **policies: Unpack[Policies],
    ) -> Job:
        """Change the given fields; raises `VersionConflict` if another edit comes in between."""
        job = (await self._entry(name)).job
        check_policies(policies)
        changes: dict[str, Any] = dict(policies)
        tz = changes.pop("tz", self._defaults.get("tz"))
        if trigger is not None:
            changes["trigger"] = zoned_trigger(trigger, tz)
        elif "tz" in policies:
            raise InvalidInput("needs the trigger", field="tz", hint="Give trigger=… as well")
        if target is not None:
            changes["target"] = target
        if "payload" in changes:
            changes["payload"] = checked(jsonable(changes["payload"]))
        if "only_if" in changes:
            changes["only_if"] = self._condition(changes["only_if"])
        changed = replace(job, **changes)
        return job_of(
            (await self._inside.jobs.edit(self.project, job.id, changed, job.version)).entry
        )

    @in_owner
    async def pause_job(
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
        done = await self._inside.jobs.pause(self.project, [name], by=author, why=why, until=end)
        return changed_of(done[0])

    @in_owner
    async def resume_job(self, name: str) -> Changed:
        """Let a paused job fire again from now on."""
        await self.open()
        return changed_of((await self._inside.jobs.resume(self.project, [name]))[0])

    @in_owner
    async def pause_project(
        self,
        *,
        why: str = "",
        until: datetime | Duration | None = None,
        by: str | None = None,
        all_projects: bool = False,
    ) -> Pause:
        """Stop all jobs of the project from firing, or those of all projects of the store."""
        await self.open()
        end = None if until is None else moment_of(until, "until")
        key = EVERYTHING if all_projects else self.project
        author = self.app if by is None else by
        pause, _ = await self._inside.pauses.pause(key, by=author, why=why, until=end)
        return pause_of(pause)

    @in_owner
    async def resume_project(self, *, all_projects: bool = False) -> None:
        """Let them fire again from now on, but for jobs that are paused themselves."""
        await self.open()
        await self._inside.pauses.resume(EVERYTHING if all_projects else self.project)

    @in_owner
    async def project_pause(self) -> Pause | None:
        """The pause that the project is under: that of all projects, or its own."""
        await self.open()
        found = await self._inside.pauses.get(self.project)
        pause = found.platform or found.project
        return None if pause is None else pause_of(pause)

    @in_owner
    async def delete_job(self, name: str) -> Changed:
        """Delete a job; its history stays until retention ends."""
        await self.open()
        return changed_of((await self._inside.jobs.delete(self.project, [name]))[0])

    @in_owner
    async def put_calendar(
        self,
        name: str,
        dates: Dates = (),
        *,
        ranges: Ranges = (),
        country: str | None = None,
        subdivision: str | None = None,
    ) -> Calendar:
        """Save a calendar that triggers name; jobs that use it fire by its new days from now on.

        `country` adds the public holidays of a country by its ISO code, from the extra `holidays`.
        """
        await self.open()
        saved = await self._inside.calendars.put(
            self.project,
            name,
            dates=dates,
            ranges=ranges,
            country=country,
            subdivision=subdivision,
            by=self.app,
        )
        return saved.calendar.calendar()

    @in_owner
    async def calendars(self) -> Sequence[Calendar]:
        """The calendars of the project, by name."""
        await self.open()
        return [each.calendar() for each in await self._inside.calendars.list(self.project)]

    @in_owner
    async def delete_calendar(self, name: str) -> None:
        """Delete a calendar; raises `Conflict` while a job uses it."""
        await self.open()
        await self._inside.calendars.delete(self.project, name)

    @in_owner
    async def get_execution(self, id: str) -> Execution[Any]:
        """One execution with its attempts."""
        await self.open()
        return (await self._named([await self._inside.executions.get(self.project, id)]))[0]

    @in_owner
    async def executions(
        self, *, limit: int = 100, **where: Unpack[ExecutionFilter]
    ) -> Sequence[Execution[Any]]:
        """Executions that match the filter, newest first, without their attempts."""
        await self.open()
        asked = await self._asked(where)
        page = await self._inside.executions.list(asked, limit=limit)
        return await self._named(page.items)

    async def _asked(self, where: ExecutionFilter) -> ports.ExecutionFilter:
        name, kind = where.get("job"), where.get("kind")
        since, until = where.get("since"), where.get("until")
        return ports.ExecutionFilter(
            project=self.project,
            job_id=None if name is None else (await self._entry(name)).job.id,
            states=states_of(where.get("state"), State),
            kind=None if kind is None else member_of(kind, Kind, "kind"),
            queue=where.get("queue"),
            since=None if since is None else to_millis(exact(since, "since")),
            until=None if until is None else to_millis(exact(until, "until")),
        )

    @overload
    async def wait(
        self, execution: Execution[R], within: Duration | None = None
    ) -> Execution[R]: ...

    @overload
    async def wait(self, execution: str, within: Duration | None = None) -> Execution[Any]: ...

    async def wait(
        self, execution: Execution[Any] | str, within: Duration | None = None
    ) -> Execution[Any]:
        """Wait until the execution, or the one with this id, has ended, and return it.

        After `within` it is returned as it is then.
        """
        return await self._wait(execution if isinstance(execution, str) else execution.id, within)

    @in_owner
    async def _wait(self, id: str, within: Duration | None) -> Execution[Any]:
        await self.open()
        limit = FOREVER if within is None else parse_duration(within, field="within") / 1000

        async def look(id: str) -> Record:
            return await self._inside.executions.get(self.project, id)

        found = await until_ended(id, look, self._inside.events, self._inside.clock, limit)
        return (await self._named([found]))[0]

    @in_owner
    async def progress(self, id: str) -> Progress | None:
        """How far the running attempt of an execution is, as its handler reports it."""
        await self.open()
        found = await self._inside.executions.progress(self.project, id)
        return None if found is None else progress_of(found)

    @in_owner
    async def output(self, id: str) -> Sequence[Output]:
        """What the attempts of an execution printed and logged, oldest attempt first."""
        await self.open()
        return await self._inside.executions.output(self.project, id)

    @in_owner
    async def steps(self, id: str) -> Sequence[Step]:
        """What an execution has done and does not do again, oldest first."""
        await self.open()
        found = await self._inside.executions.steps(self.project, id)
        return [step_of(one) for one in found if is_step(one)]

    @in_owner
    async def waits(self, id: str) -> Sequence[Wait]:
        """What an execution waits or waited for from outside, with the answers."""
        await self.open()
        found = await self._inside.executions.steps(self.project, id)
        return [wait_of(one) for one in found if one.name.startswith(WAIT)]

    @in_owner
    async def answer(self, id: str, name: str, value: Any, *, by: str = "") -> None:
        """Answer what an execution waits for by `run.wait_for`; it goes on at once."""
        await self.open()
        await self._inside.executions.answer(self.project, id, name, jsonable(value), by)

    @in_owner
    async def cancel(self, id: str) -> None:
        """Cancel an execution that has not started; ask the worker of a running one to stop it."""
        await self.open()
        await self._inside.executions.cancel(self.project, [id])

    @in_owner
    async def revive(self, id: str) -> None:
        """Run a dead execution again under its id, with new attempts."""
        await self.open()
        await self._inside.executions.revive(self.project, [id])

    @in_owner
    async def revive_edited(self, id: str, payload: Any) -> Execution[Any]:
        """Repeat a dead execution with another payload, as a new execution that refers to it."""
        await self.open()
        made = await self._inside.executions.revive_edited(self.project, id, jsonable(payload))
        return (await self._named([made]))[0]

    async def _entry(self, name: str) -> Entry:
        await self.open()
        return await self._inside.jobs.get(self.project, name)

    async def _named(self, found: Iterable[Record]) -> list[Execution[Any]]:
        """Executions with the names of their jobs, which one read answers for all."""
        rows = list(found)
        jobs = await jobs_by_id(self._inside.jobs.store, self.project, {row.job_id for row in rows})
        known = {
            id: (entry.job.name, self._inside.read_result(entry.job)) for id, entry in jobs.items()
        }
        return [execution_of(row, *known.get(row.job_id, (row.job_id,))) for row in rows]

    def _condition(self, given: Any) -> Any:
        """A condition as a job has it: a function goes by its name, and is known here from now."""
        if isinstance(given, JobFunction):
            return given.name
        return self._inside.handlers.adopt(given) if callable(given) else given

    def _definition(
        self, name: str, trigger: Trigger | None, target: Target, policies: dict[str, Any]
    ) -> records.Job:
        policies = {**self._defaults, **policies}
        check_policies(policies)
        policies["only_if"] = self._condition(policies.get("only_if"))
        policies["payload"] = checked(jsonable(policies.get("payload")))
        chosen = zoned_trigger(OnDemand() if trigger is None else trigger, policies.pop("tz", None))
        job = records.Job(
            id="", name=name, trigger=chosen, target=target, project=self.project, **policies
        )
        require_effective(job.misfire)
        return job
