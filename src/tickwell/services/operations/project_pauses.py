"""Pausing the actor's project, and everything."""

from __future__ import annotations

from dataclasses import dataclass

from tickwell.domain.project_pause import EVERYTHING
from tickwell.engine.planning.project_pauses import Aligned
from tickwell.services.access.actor import Actor, Permission, needs
from tickwell.services.documents import pauses_document
from tickwell.services.operations.context import OperationContext
from tickwell.services.projects.pauses import Pauses, ProjectPausing
from tickwell.services.projects.platform import PLATFORM
from tickwell.services.time import Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class PausesChanged:
    """The pauses that the project is under now, and what became of its executions."""

    pauses: Pauses
    aligned: Aligned


class ProjectPauseOperations:
    """An operator pauses the project, a platform admin all projects."""

    def __init__(self, context: OperationContext) -> None:
        self.context = context
        self._pausing = ProjectPausing(context.store, context.clock, context.wake)

    @needs(Permission.READ)
    async def get(self, actor: Actor) -> Pauses:
        """The pauses that the project is under."""
        return await self._pausing.get(actor.project)

    @needs(Permission.OPERATE)
    async def pause(
        self, actor: Actor, *, why: str = "", until: Moment | None = None
    ) -> PausesChanged:
        """Stop all jobs of the project from firing."""
        return await self._pause(actor, actor.project, why, until)

    @needs(Permission.OPERATE)
    async def resume(self, actor: Actor) -> PausesChanged:
        """Let them fire again from now on."""
        return await self._resume(actor, actor.project)

    @needs(Permission.PLATFORM)
    async def pause_all(
        self, actor: Actor, *, why: str = "", until: Moment | None = None
    ) -> PausesChanged:
        """Stop the jobs of all projects from firing."""
        return await self._pause(actor, EVERYTHING, why, until)

    @needs(Permission.PLATFORM)
    async def resume_all(self, actor: Actor) -> PausesChanged:
        """Let them fire again from now on, but for projects that are paused themselves."""
        return await self._resume(actor, EVERYTHING)

    async def _pause(
        self, actor: Actor, project: str, why: str, until: Moment | None
    ) -> PausesChanged:
        before = await self._pausing.get(actor.project)
        _, aligned = await self._pausing.pause(project, by=actor.name, why=why, until=until)
        return await self._changed(actor, "pause", project, before, aligned)

    async def _resume(self, actor: Actor, project: str) -> PausesChanged:
        before = await self._pausing.get(actor.project)
        aligned = await self._pausing.resume(project)
        return await self._changed(actor, "resume", project, before, aligned)

    async def _changed(
        self, actor: Actor, verb: str, project: str, before: Pauses, aligned: Aligned
    ) -> PausesChanged:
        after = await self._pausing.get(actor.project)
        name = "platform" if project == EVERYTHING else "project"
        change = [pauses_document(each)[name] for each in (before, after)]
        subject = "platform" if project == EVERYTHING else f"project/{project}"
        of = PLATFORM if project == EVERYTHING else actor.project
        await self.context.auditor.record(actor, f"{name}.{verb}", subject, *change, project=of)
        return PausesChanged(pauses=after, aligned=aligned)
