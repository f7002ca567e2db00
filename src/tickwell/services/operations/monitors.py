"""What people do with monitors: jobs that others run, and that check in by pings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tickwell.domain.external import CHECK_INS, External
from tickwell.domain.job import Entry
from tickwell.domain.trigger import Trigger
from tickwell.errors import NotFound
from tickwell.ports.records import JobFilter, Page
from tickwell.services.access.actor import Actor, Permission, needs
from tickwell.services.monitors.check_ins import LOG
from tickwell.services.monitors.definition import GRACE, monitor_job
from tickwell.services.monitors.state import Monitor, MonitorState, read_monitor
from tickwell.services.monitors.tokens import PING_KEY, Owner, Tokens, new_ping_key, new_token
from tickwell.services.operations.context import OperationContext
from tickwell.services.operations.jobs import JobOperations


@dataclass(frozen=True, slots=True)
class NewMonitor:
    """A monitor with its token, the only time that it is shown."""

    monitor: Monitor
    token: str


class MonitorOperations:
    """Adds and reads monitors, and rotates their tokens. Otherwise they are jobs."""

    def __init__(self, context: OperationContext, jobs: JobOperations) -> None:
        self.context = context
        self._jobs = jobs
        self._tokens = Tokens(context.store)

    @needs(Permission.EDIT)
    async def create(
        self,
        actor: Actor,
        name: str,
        trigger: Trigger,
        *,
        grace: int = GRACE,
        description: str = "",
        tags: Sequence[str] = (),
    ) -> NewMonitor:
        """Expect check-ins by this schedule."""
        job = monitor_job(name, trigger, grace, description=description, tags=tags)
        entry = (await self._jobs.create(actor, job)).entry
        token = await self._issue(actor, entry.job.id)
        return NewMonitor(Monitor(entry=entry, state=MonitorState.NEW), token)

    @needs(Permission.READ)
    async def list(
        self, actor: Actor, cursor: str | None = None, limit: int = 100
    ) -> Page[Monitor]:
        """Monitors by name."""
        where = JobFilter(project=actor.project, queue=CHECK_INS)
        page = await self.context.jobs.list(where, cursor, limit)
        found = [await self._read(entry) for entry in page.items if _is_monitor(entry)]
        return Page(items=found, cursor=page.cursor)

    @needs(Permission.READ)
    async def get(self, actor: Actor, key: str) -> Monitor:
        """One monitor."""
        monitor = await self._read(await self._find(actor, key))
        job, now = monitor.entry.job, self.context.clock.now()
        log = await self.context.store.get_record(LOG, job.project, job.id, now)
        return monitor if log is None else replace(monitor, log=log.document["log"])

    @needs(Permission.EDIT)
    async def rotate(self, actor: Actor, key: str) -> NewMonitor:
        """Give a monitor another token; the one before is refused at once."""
        entry = await self._find(actor, key)
        token = await self._issue(actor, entry.job.id)
        await self._note(actor, "monitor.rotate", f"job/{entry.job.id}")
        return NewMonitor(await self._read(entry), token)

    @needs(Permission.EDIT)
    async def rotate_ping_key(self, actor: Actor) -> str:
        """Give the project another ping key; the one before is refused at once."""
        key, now = new_ping_key(), self.context.clock.now()
        await self._tokens.issue(Owner(actor.project, PING_KEY), key, now)
        await self._note(actor, "monitor.rotate_ping_key", "ping_key")
        return key

    async def _issue(self, actor: Actor, id: str) -> str:
        token = new_token()
        await self._tokens.issue(Owner(actor.project, id), token, self.context.clock.now())
        return token

    async def _find(self, actor: Actor, key: str) -> Entry:
        entry = await self.context.jobs.get(actor.project, key)
        if not _is_monitor(entry):
            raise NotFound("monitor", key)
        return entry

    async def _read(self, entry: Entry) -> Monitor:
        return await read_monitor(self.context.store, entry, self.context.clock.now())

    async def _note(self, actor: Actor, action: str, on: str) -> None:
        await self.context.auditor.record(actor, action, on, None, None)


def _is_monitor(entry: Entry) -> bool:
    return isinstance(entry.job.target, External)
