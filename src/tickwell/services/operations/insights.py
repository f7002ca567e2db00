"""What people see of many records at once."""

from __future__ import annotations

from collections.abc import Sequence

from tickwell.domain.execution import State
from tickwell.services.access.actor import Actor, needs
from tickwell.services.access.permission import Permission
from tickwell.services.insights import density, history, overview, timeline
from tickwell.services.operations.tools import Tools


class InsightOperations:
    """Reads the actor's project as a whole."""

    def __init__(self, tools: Tools) -> None:
        self.tools = tools

    @needs(Permission.READ)
    async def overview(self, actor: Actor) -> overview.Overview:
        """One look at the project."""
        return await overview.look(self.tools.store, actor.project, self.tools.clock.now())

    @needs(Permission.READ)
    async def dead(self, actor: Actor) -> int:
        """How many dead letters there are."""
        return (await self.tools.store.stats(actor.project)).get(State.DEAD, 0)

    @needs(Permission.READ)
    async def job_history(self, actor: Actor, job_id: str) -> history.JobHistory:
        """The latest executions of a job, and what they say about it."""
        return await history.job_history(self.tools.store, actor.project, job_id)

    @needs(Permission.READ)
    async def latest(self, actor: Actor, ids: Sequence[str]) -> dict[str, list[State]]:
        """How the latest few executions of each of these jobs went, newest first."""
        return await history.latest_states(self.tools.store, actor.project, ids)

    @needs(Permission.READ)
    async def timeline(self, actor: Actor, since: int, until: int) -> timeline.Timeline:
        """What ran and what will fire in [since, until), by job."""
        now = self.tools.clock.now()
        return await timeline.timeline(self.tools.store, actor.project, since, until, now)

    @needs(Permission.READ)
    async def density(self, actor: Actor, since: int, until: int) -> density.Density:
        """How much starts in each hour of [since, until)."""
        now = self.tools.clock.now()
        return await density.density(self.tools.store, actor.project, since, until, now)
