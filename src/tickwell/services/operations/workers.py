"""What people see of workers."""

from __future__ import annotations

from collections.abc import Sequence

from tickwell.domain.worker import Liveness
from tickwell.errors import NotFound
from tickwell.services.access.actor import Actor, needs
from tickwell.services.access.permission import Permission
from tickwell.services.operations.tools import Tools


class WorkerOperations:
    """Reads workers; they serve all projects."""

    def __init__(self, tools: Tools) -> None:
        self.tools = tools

    @needs(Permission.READ)
    async def list(self, actor: Actor) -> Sequence[Liveness]:
        """All that the store remembers, by id."""
        return await self.tools.store.list_workers()

    @needs(Permission.READ)
    async def get(self, actor: Actor, id: str) -> Liveness:
        """One worker."""
        for liveness in await self.tools.store.list_workers():
            if liveness.worker.id == id:
                return liveness
        raise NotFound("worker", id)
