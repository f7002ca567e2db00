"""Workers and queues: what is alive, how much waits, and pausing a queue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tickwell.domain.ability import is_usable_by
from tickwell.domain.execution import LIVE, State
from tickwell.domain.external import processes
from tickwell.domain.naming import is_name
from tickwell.domain.queue import PAUSE_KIND, PAUSE_PROJECT
from tickwell.domain.worker import Liveness
from tickwell.errors import InvalidInput, NotFound, WrongState
from tickwell.ports.records import ExecutionFilter, Record
from tickwell.services.access.actor import Actor, Permission, needs
from tickwell.services.documents import queue_pause_document
from tickwell.services.operations.context import OperationContext
from tickwell.services.projects.platform import PLATFORM


class WorkerOperations:
    """Reads workers. They serve all projects, so not everybody sees all of them.

    Hosts and processes are for those who run the platform, what a worker can run for those who
    may write a job for it: the handlers of their project, and those that are shared.
    """

    def __init__(self, context: OperationContext) -> None:
        self.context = context

    @needs(Permission.READ)
    async def list(self, actor: Actor) -> Sequence[Liveness]:
        """All that the store remembers, by id."""
        found = processes(await self.context.store.list_workers())
        return [_seen_by(actor, each) for each in found]

    @needs(Permission.READ)
    async def get(self, actor: Actor, id: str) -> Liveness:
        """One worker."""
        for liveness in processes(await self.context.store.list_workers()):
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


#: Who paused a queue, why and when.
Pause = dict[str, Any]
#: Live executions that are counted at most.
_COUNTED = 1000
#: Queues that are paused at most, also when some are paused at once: workers read 1,000.
MOST_PAUSED = 900


@dataclass(slots=True, kw_only=True)
class Queue:
    """A queue as one project sees it."""

    name: str
    #: Live executions of the project by state.
    depth: dict[State, int] = field(default_factory=dict)
    #: Workers that take from it and are not lost.
    workers: int = 0
    #: None: it is not paused.
    pause: Pause | None = None
    #: Whether all of the project's live executions were counted.
    complete: bool = True


class QueueOperations:
    """Reads queues; a pause stops a queue for all projects, as its workers serve all."""

    def __init__(self, context: OperationContext) -> None:
        self.context = context

    @needs(Permission.READ)
    async def list(self, actor: Actor) -> Sequence[Queue]:
        """The queues that have live executions, workers or a pause, by name."""
        counts, complete = await self._depths(actor.project)
        workers: Counter[str] = Counter()
        for liveness in processes(await self.context.store.list_workers()):
            workers.update(() if liveness.lost else liveness.worker.queues)
        pauses = {record.key: record.document for record in await self._pauses()}
        names = {queue for queue, _ in counts} | set(workers) | set(pauses)
        return [
            Queue(
                name=name,
                depth={state: counts[name, state] for state in State if counts[name, state]},
                workers=workers[name],
                pause=pauses.get(name),
                complete=complete,
            )
            for name in sorted(names)
        ]

    @needs(Permission.PLATFORM)
    async def pause(self, actor: Actor, name: str, *, why: str = "") -> None:
        """Workers claim nothing more from it; what is running ends, what is due waits."""
        if not is_name(name):
            raise InvalidInput("1 to 255 printable characters are needed", field="queue")
        now = self.context.clock.now()
        note = {"by": actor.name, "why": why, "since": now}
        before = await self._pause(name, now)
        if before is None and len(await self._pauses()) >= MOST_PAUSED:
            reason = f"{MOST_PAUSED} queues can be paused at once"
            raise InvalidInput(reason, field="queue", hint="Resume some first")
        record = Record(kind=PAUSE_KIND, project=PAUSE_PROJECT, key=name, document=note)
        await self.context.store.put_record(record, now)
        await self._note(actor, "queue.pause", name, before, note)

    @needs(Permission.PLATFORM)
    async def resume(self, actor: Actor, name: str) -> None:
        """Workers claim from it again."""
        before = await self._pause(name, self.context.clock.now())
        if not await self.context.store.delete_record(PAUSE_KIND, PAUSE_PROJECT, name):
            raise WrongState("queue", name, "not paused", "a paused one can be resumed")
        self.context.wake()
        await self._note(actor, "queue.resume", name, before, None)

    async def _note(
        self, actor: Actor, action: str, name: str, before: Pause | None, after: Pause | None
    ) -> None:
        change = queue_pause_document(before), queue_pause_document(after)
        # All projects have to do with it.
        await self.context.auditor.record(actor, action, f"queue/{name}", *change, project=PLATFORM)

    async def _pause(self, name: str, now: int) -> Pause | None:
        found = await self.context.store.get_record(PAUSE_KIND, PAUSE_PROJECT, name, now)
        return found.document if found else None

    async def _pauses(self) -> Sequence[Record]:
        now = self.context.clock.now()
        return await self.context.store.list_records(PAUSE_KIND, PAUSE_PROJECT, "", now)

    async def _depths(self, project: str) -> tuple[Counter[tuple[str, State]], bool]:
        where = ExecutionFilter(project=project, states=LIVE)
        page = await self.context.store.list_executions(where, limit=_COUNTED)
        return Counter((each.queue, each.state) for each in page.items), page.cursor is None
