"""Maintenance windows of the actor's project, and of everything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tickwell.domain.maintenance import MaintenanceWindow
from tickwell.domain.project_pause import EVERYTHING
from tickwell.services.access.actor import Actor, Permission, needs
from tickwell.services.documents import maintenance_document
from tickwell.services.operations.context import OperationContext
from tickwell.services.projects.maintenance import (
    Maintenance,
    MaintenanceWindowing,
    Schedule,
    as_of,
)
from tickwell.services.projects.platform import PLATFORM


class MaintenanceOperations:
    """An operator saves windows of the project, a platform admin those of all projects."""

    def __init__(self, context: OperationContext) -> None:
        self.context = context
        self._windows = MaintenanceWindowing(context.store, context.clock, context.wake)

    @needs(Permission.READ)
    async def list(self, actor: Actor) -> Sequence[Maintenance]:
        """The windows that jobs of the project may be in: what is on first, then what is next."""
        return await self._windows.list_for(actor.project)

    @needs(Permission.OPERATE)
    async def put(
        self,
        actor: Actor,
        name: str,
        schedule: Schedule,
        *,
        why: str = "",
        tags: Sequence[str] = (),
        queues: Sequence[str] = (),
    ) -> Maintenance:
        """Add a window of the project, or replace it."""
        return await self._put(
            actor, actor.project, name, schedule, why=why, tags=tags, queues=queues
        )

    @needs(Permission.OPERATE)
    async def end(self, actor: Actor, name: str) -> Maintenance:
        """End the time that is on now."""
        return await self._end(actor, actor.project, name)

    @needs(Permission.OPERATE)
    async def delete(self, actor: Actor, name: str) -> None:
        """Delete a window of the project."""
        await self._delete(actor, actor.project, name)

    @needs(Permission.PLATFORM)
    async def put_all(
        self,
        actor: Actor,
        name: str,
        schedule: Schedule,
        *,
        why: str = "",
        tags: Sequence[str] = (),
        queues: Sequence[str] = (),
    ) -> Maintenance:
        """Add a window of all projects, or replace it."""
        return await self._put(actor, EVERYTHING, name, schedule, why=why, tags=tags, queues=queues)

    @needs(Permission.PLATFORM)
    async def end_all(self, actor: Actor, name: str) -> Maintenance:
        """End the time of a window of all projects that is on now."""
        return await self._end(actor, EVERYTHING, name)

    @needs(Permission.PLATFORM)
    async def delete_all(self, actor: Actor, name: str) -> None:
        """Delete a window of all projects."""
        await self._delete(actor, EVERYTHING, name)

    async def _put(
        self, actor: Actor, project: str, name: str, schedule: Schedule, **about: Any
    ) -> Maintenance:
        before, after = await self._windows.put(project, name, schedule, by=actor.name, **about)
        return await self._note(actor, "put", before, after)

    async def _end(self, actor: Actor, project: str, name: str) -> Maintenance:
        before, after = await self._windows.end(project, name)
        return await self._note(actor, "end", before, after)

    async def _delete(self, actor: Actor, project: str, name: str) -> None:
        window = await self._windows.delete(project, name)
        await self._record(actor, "delete", window, self._shown(window), None)

    async def _note(
        self,
        actor: Actor,
        verb: str,
        before: MaintenanceWindow | None,
        after: MaintenanceWindow,
    ) -> Maintenance:
        former = None if before is None else self._shown(before)
        await self._record(actor, verb, after, former, self._shown(after))
        return as_of(after, self.context.clock.now())

    def _shown(self, window: MaintenanceWindow) -> dict[str, Any]:
        return maintenance_document(as_of(window, self.context.clock.now()))

    async def _record(
        self,
        actor: Actor,
        verb: str,
        window: MaintenanceWindow,
        before: dict[str, Any] | None,
        after: dict[str, Any] | None,
    ) -> None:
        of_all = window.project == EVERYTHING
        action = f"{'platform_maintenance' if of_all else 'maintenance'}.{verb}"
        subject = f"maintenance/{window.name}"
        project = PLATFORM if of_all else actor.project
        await self.context.auditor.record(actor, action, subject, before, after, project=project)
