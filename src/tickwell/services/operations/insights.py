"""What people see of many records at once."""

from __future__ import annotations

from collections.abc import Sequence

from tickwell.domain.execution import State
from tickwell.domain.health import Finding
from tickwell.errors import InvalidInput, NotFound
from tickwell.services.access.actor import Actor, Permission, needs
from tickwell.services.health import weak_link_findings
from tickwell.services.insights import density, overview, timeline
from tickwell.services.insights import job_history as history
from tickwell.services.insights.metrics import Metrics, Scope, Series, read_current, read_series
from tickwell.services.jobs.jobs_by_id import jobs_by_id
from tickwell.services.operations.context import OperationContext


class CheckupOperations:
    """Looks at the actor's project, and at what all projects share; repairs nothing."""

    def __init__(self, context: OperationContext) -> None:
        self.context = context

    @needs(Permission.READ)
    async def findings(self, actor: Actor) -> Sequence[Finding]:
        """Everything that was checked, the worst first."""
        health = await self.context.health.of(actor)
        if Permission.PLATFORM not in actor.permissions:
            return health.findings
        return [*health.findings, *weak_link_findings(self.context.weak_links)]


class InsightOperations:
    """Reads the actor's project as a whole."""

    def __init__(self, context: OperationContext) -> None:
        self.context = context

    @needs(Permission.READ)
    async def overview(self, actor: Actor) -> overview.Overview:
        """One look at the project."""
        return await overview.look(self.context.store, actor.project, self.context.clock.now())

    @needs(Permission.READ)
    async def dead(self, actor: Actor) -> int:
        """How many dead letters there are."""
        return (await self.context.store.stats(actor.project)).get(State.DEAD, 0)

    @needs(Permission.READ)
    async def job_history(self, actor: Actor, job_id: str) -> history.JobHistory:
        """The latest executions of a job, and what they say about it."""
        return await history.job_history(self.context.store, actor.project, job_id)

    @needs(Permission.READ)
    async def latest(self, actor: Actor, ids: Sequence[str]) -> dict[str, list[State]]:
        """How the latest few executions of each of these jobs went, newest first."""
        return await history.latest_states(self.context.store, actor.project, ids)

    @needs(Permission.READ)
    async def timeline(self, actor: Actor, since: int, until: int) -> timeline.Timeline:
        """What ran and what will fire in [since, until), by job."""
        now = self.context.clock.now()
        return await timeline.timeline(self.context.store, actor.project, since, until, now)

    @needs(Permission.READ)
    async def density(self, actor: Actor, since: int, until: int) -> density.Density:
        """How much starts in each hour of [since, until)."""
        now = self.context.clock.now()
        return await density.density(self.context.store, actor.project, since, until, now)

    @needs(Permission.READ)
    async def metrics(
        self,
        actor: Actor,
        *,
        queue: str | None = None,
        job: str | None = None,
        all_projects: bool = False,
    ) -> Metrics:
        """Rates, errors and percentiles of the last minutes."""
        scope = await self._scope(actor, queue, job, all_projects=all_projects)
        return await read_current(self.context.store, scope, self.context.clock.now())

    @needs(Permission.READ)
    async def series(
        self,
        actor: Actor,
        span: str,
        *,
        queue: str | None = None,
        job: str | None = None,
        all_projects: bool = False,
    ) -> Series:
        """The same over a span of time, interval by interval."""
        scope = await self._scope(actor, queue, job, all_projects=all_projects)
        return await read_series(self.context.store, scope, span, self.context.clock.now())

    @needs(Permission.READ)
    async def job_names(self, actor: Actor, ids: Sequence[str]) -> dict[str, str]:
        """The names of these jobs by id, but for those that were pruned."""
        found = await jobs_by_id(self.context.store, actor.project, ids)
        return {id: entry.job.name for id, entry in found.items()}

    async def _scope(
        self, actor: Actor, queue: str | None, job: str | None, *, all_projects: bool
    ) -> Scope:
        """A job is named by its name or its id; all projects are the platform's to see."""
        if all_projects:
            actor.require(Permission.PLATFORM)
            if job is not None:
                raise InvalidInput(
                    "cannot be combined with all projects",
                    field="job",
                    hint="Choose the job's project",
                )
            return Scope(project=None, queue=queue)
        if job is None:
            return Scope(project=actor.project, queue=queue)
        found = await self.context.store.get_jobs(actor.project, [job])
        if not found:
            raise NotFound("job", job)
        return Scope(project=actor.project, queue=queue, job=found[0].job.id)
