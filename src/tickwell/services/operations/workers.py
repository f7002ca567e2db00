"""What people see of workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tickwell.domain.ability import is_usable_by
from tickwell.domain.worker import Liveness
from tickwell.errors import NotFound
from tickwell.services.access.actor import Actor, needs
from tickwell.services.access.permission import Permission
from tickwell.services.operations.tools import Tools


class WorkerOperations:
    """Reads workers. They serve all projects, so not everybody sees all of them.

    Hosts and processes are for those who run the platform, what a worker can run for those who
    may write a job for it: the handlers of their project, and those that are shared.
    """

    def __init__(self, tools: Tools) -> None:
        self.tools = tools

    @needs(Permission.READ)
    async def list(self, actor: Actor) -> Sequence[Liveness]:
        """All that the store remembers, by id."""
        return [_seen_by(actor, each) for each in await self.tools.store.list_workers()]

    @needs(Permission.READ)
    async def get(self, actor: Actor, id: str) -> Liveness:
        """One worker."""
        for liveness in await self.tools.store.list_workers():
            if liveness.worker.id == id:
                return _seen_by(actor, liveness)
        raise NotFound("worker", id)


def _seen_by(actor: Actor, liveness: Liveness) -> Liveness:
    if Permission.PLATFORM in actor.permissions:
        return liveness
    worker = liveness.worker
    may_write = Permission.EDIT in actor.permissions
    usable = [each for each in worker.abilities if is_usable_by(actor.project, each)]
    abilities = tuple(usable) if may_write else ()
    return replace(liveness, worker=replace(worker, host="", pid=0, abilities=abilities))
