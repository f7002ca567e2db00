"""What people do with executions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tickwell.domain.execution import Execution
from tickwell.domain.job import Entry, Job
from tickwell.domain.note import Output, Progress
from tickwell.domain.step import Step
from tickwell.domain.unique import Uniqueness
from tickwell.errors import NotFound
from tickwell.ports.records import ExecutionFilter, Page
from tickwell.services.access.actor import Actor, Permission, needs
from tickwell.services.documents import instant_text
from tickwell.services.executions.executions import Backfill, Tail
from tickwell.services.jobs.jobs_by_id import jobs_by_id
from tickwell.services.operations.context import OperationContext
from tickwell.services.operations.job_checks import allowed_to
from tickwell.services.operations.paging import execution_size, read_page
from tickwell.services.time import Moment


class ExecutionOperations:
    """Requests, reads, cancels and revives runs of the actor's project."""

    def __init__(self, context: OperationContext) -> None:
        self.context = context

    @needs(Permission.OPERATE)
    async def trigger(
        self,
        actor: Actor,
        job_key: str,
        *,
        payload: Any = None,
        run_at: Moment | None = None,
        key: str | None = None,
        unique: Uniqueness | None = None,
    ) -> Execution:
        """Run a job, now or at an instant; the same idempotency key answers with the same run."""
        await self.context.limiter.check_runs(actor, 1, payload)
        execution = await self.context.executions.trigger(
            actor.project,
            job_key,
            payload=payload,
            run_at=run_at,
            key=key,
            unique=unique,
            admit=allowed_to(actor),
        )
        await self._note(actor, "job.trigger", f"job/{execution.job_id}", execution.id)
        return execution

    @needs(Permission.OPERATE)
    async def backfill(
        self,
        actor: Actor,
        job_key: str,
        since: int,
        until: int,
        *,
        force: bool = False,
        dry_run: bool = False,
    ) -> Backfill:
        """Run the slots in [since, until) that have not run; forced, the others again as well."""
        context = self.context
        id = (await context.jobs.get(actor.project, job_key)).job.id

        async def begin(count: int) -> None:
            await context.limiter.check_runs(actor, count)
            after = {
                "since": instant_text(since),
                "until": instant_text(until),
                "force": force,
                "executions": count,
            }
            # First: what is broken off after some of them is on record too.
            await context.auditor.record(actor, "job.backfill", f"job/{id}", None, after)

        return await context.executions.backfill(
            actor.project, id, since, until, force=force, dry_run=dry_run, begin=begin
        )

    @needs(Permission.READ)
    async def get(self, actor: Actor, id: str) -> Execution:
        """One execution with its attempts."""
        return await self.context.executions.get(actor.project, id)

    @needs(Permission.READ)
    async def notes(self, actor: Actor, id: str) -> tuple[Progress | None, Sequence[Output]]:
        """How far an attempt under way is, and what all attempts printed and logged."""
        executions = self.context.executions
        progress = await executions.progress(actor.project, id)
        return progress, await executions.output(actor.project, id)

    @needs(Permission.READ)
    async def steps(self, actor: Actor, id: str) -> Sequence[Step]:
        """What it has done and does not do again, and its checkpoint."""
        return await self.context.executions.steps(actor.project, id)

    @needs(Permission.READ)
    async def tail(self, actor: Actor, id: str, attempt: int = 1, line: int = 0) -> Tail:
        """Lines that its attempts printed and logged, from one on."""
        return await self.context.executions.tail(actor.project, id, attempt, line)

    @needs(Permission.READ)
    async def list(
        self, actor: Actor, where: ExecutionFilter, cursor: str | None = None, limit: int = 100
    ) -> Page[Execution]:
        """Executions, newest first."""
        scope = replace(where, project=actor.project)
        return await read_page(self.context.executions.list, scope, cursor, limit, execution_size)

    @needs(Permission.READ)
    async def job_of(self, actor: Actor, key: str) -> Entry:
        """The job whose executions are asked for: by its id, a deleted one too."""
        found = await self.context.store.get_jobs(actor.project, [key])
        if not found:
            raise NotFound("job", key)
        return found[0]

    @needs(Permission.READ)
    async def jobs(self, actor: Actor, executions: Iterable[Execution]) -> Mapping[str, Job]:
        """Their jobs, by id; deleted ones too."""
        ids = {execution.job_id for execution in executions}
        found = await jobs_by_id(self.context.store, actor.project, ids)
        return {id: entry.job for id, entry in found.items()}

    @needs(Permission.READ)
    async def names(self, actor: Actor, executions: Iterable[Execution]) -> Mapping[str, str]:
        """The names of their jobs, by id."""
        jobs = await self.jobs(actor, executions)
        return {id: job.name for id, job in jobs.items()}

    @needs(Permission.OPERATE)
    async def cancel(self, actor: Actor, id: str) -> Execution:
        """End it if it is pending; ask its worker to stop if it is running."""
        await self._require_own(actor, id)
        await self.context.executions.cancel(actor.project, [id])
        await self._note(actor, "execution.cancel", f"execution/{id}", id)
        return await self.context.executions.get(actor.project, id)

    @needs(Permission.OPERATE)
    async def answer(self, actor: Actor, id: str, name: str, value: Any) -> Execution:
        """Answer what it waits for; it goes on at once."""
        await self.context.executions.answer(actor.project, id, name, value, actor.name)
        await self._note(actor, "execution.answer", f"execution/{id}", id)
        return await self.context.executions.get(actor.project, id)

    @needs(Permission.OPERATE)
    async def revive(self, actor: Actor, id: str) -> Execution:
        """A dead one runs again under its id, with a new budget."""
        await self.context.limiter.check_runs(actor, 1)
        await self.context.executions.revive(actor.project, [id])
        await self._note(actor, "execution.revive", f"execution/{id}", id)
        return await self.context.executions.get(actor.project, id)

    @needs(Permission.OPERATE)
    async def revive_edited(self, actor: Actor, id: str, payload: Any) -> Execution:
        """A dead one is repeated with another payload, as a new execution that names it."""
        await self.context.limiter.check_runs(actor, 1, payload)
        executions, admit = self.context.executions, allowed_to(actor)
        execution = await executions.revive_edited(actor.project, id, payload, admit)
        await self._note(actor, "execution.revive", f"execution/{id}", execution.id)
        return execution

    async def _require_own(self, actor: Actor, id: str) -> None:
        """Refuse to keep a callback from being sent to others than admins."""
        if Permission.ADMINISTER in actor.permissions:
            return
        execution = await self.context.executions.get(actor.project, id)
        known = await jobs_by_id(self.context.store, actor.project, [execution.job_id])
        for entry in known.values():
            allowed_to(actor)(entry.job)

    async def _note(self, actor: Actor, action: str, subject: str, id: str) -> None:
        await self.context.auditor.record(actor, action, subject, None, {"execution": id})
