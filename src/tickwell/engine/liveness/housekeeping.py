"""Housekeeping: parking, removal of jobs that are over, pruning. Part of the reaper's round."""

from __future__ import annotations

from collections import Counter, defaultdict

from tickwell.clock import Clock
from tickwell.domain.change import Change, Changer, delete
from tickwell.domain.coverage import Coverage
from tickwell.domain.event import Events, Parked
from tickwell.domain.execution import LIVE, Execution, State
from tickwell.domain.fairness import DELETED_KIND, PLATFORM_PROJECT, PROJECT_KIND
from tickwell.domain.job import Entry, JobState
from tickwell.domain.removed import REMOVED_KIND, removed_document
from tickwell.domain.worker import Liveness
from tickwell.engine.planning.project_pauses import complete
from tickwell.ports.records import ExecutionFilter, JobFilter, Record
from tickwell.ports.store import Store
from tickwell.settings import Settings

#: Rows of the queue that one look reads, and how many looks one round takes at most.
LOOK = 50
PAGES = 10
#: Jobs that are not over yet which one look for those to be removed passes by.
PASSED = 10_000


class Housekeeping:
    """Keeps the queue free of what cannot run, and the store free of what is old."""

    def __init__(self, store: Store, clock: Clock, events: Events, settings: Settings) -> None:
        self.store = store
        self.clock = clock
        self.events = events
        self.settings = settings
        self._pruned_at = float("-inf")
        #: How far the parked have been looked through; none: from the start.
        self._looked_to: str | None = None
        #: The same for jobs that are to be removed.
        self._removed_to: str | None = None

    async def run(self, workers: list[Liveness]) -> None:
        """Once per sweep; pruning more rarely."""
        coverage = Coverage(workers)
        await self._park(coverage)
        await self._unpark(coverage)
        await self._remove_finished()
        await complete(self.store, self.clock)
        if self.clock.monotonic() - self._pruned_at >= self.settings.prune_every:
            await self._prune()
            await self._clear_deleted_projects()

    async def _prune(self) -> None:
        """So much a round; what is left over is the next round's."""
        for _ in range(PAGES):
            if not await self.store.prune(self.clock.now(), self.settings.batch):
                self._pruned_at = self.clock.monotonic()
                return

    async def _park(self, coverage: Coverage) -> None:
        """Take what no live worker can run out of the queue.

        A short look is enough where all is well: reading 5,000 of a healthy backlog at every
        sweep cost a sixth of the throughput. Where something is stuck, it looks again.
        """
        for _ in range(PAGES):
            now = self.clock.now()
            overdue = ExecutionFilter(
                states=frozenset({State.QUEUED}), due_before=now - int(self.settings.sweep * 1000)
            )
            page = await self.store.list_executions(overdue, limit=LOOK)
            stuck = defaultdict[str, list[Execution]](list)
            for one in page.items:
                if gap := coverage.gap(one):
                    stuck[gap].append(one)
            if not stuck:
                return
            for reason, some in stuck.items():
                await self._park_for(reason, some, now)

    async def _park_for(self, reason: str, stuck: list[Execution], now: int) -> None:
        ids = [one.id for one in stuck]
        parked = set(await self.store.settle(ids, {State.QUEUED}, State.PARKED, reason, now))
        counted = Counter((one.ability, one.queue) for one in stuck if one.id in parked)
        for (ability, queue), count in counted.items():
            event = Parked(ability=ability, queue=queue, executions=count, reason=reason)
            self.events.emit(event)

    async def _unpark(self, coverage: Coverage) -> None:
        """So much a round, from where the last one stopped: what is new hides nothing old."""
        parked = ExecutionFilter(states=frozenset({State.PARKED}))
        for _ in range(PAGES):
            page = await self.store.list_executions(parked, self._looked_to, self.settings.batch)
            ids = [one.id for one in page.items if not coverage.gap(one)]
            if ids:
                await self.store.settle(ids, {State.PARKED}, State.WAITING, "", self.clock.now())
            self._looked_to = page.cursor
            if page.cursor is None:
                return

    async def _remove_finished(self) -> None:
        """Delete finished jobs that ask for it, a bounded number a sweep."""
        finished = frozenset({JobState.FINISHED})
        where = JobFilter(states=finished, auto_remove=True, look=PASSED)
        for _ in range(PAGES):
            page = await self.store.list_jobs(where, self._removed_to, LOOK)
            for entry in page.items:
                await self._remove_unless_live(entry)
            self._removed_to = page.cursor
            if page.cursor is None:
                return

    async def _remove_unless_live(self, entry: Entry) -> None:
        job = entry.job
        live = ExecutionFilter(project=job.project, job_id=job.id, states=LIVE)
        if not (await self.store.list_executions(live, limit=1)).items:
            await self._remember(entry)
            changer = _delete_if_finished(job.version)
            await self.store.change_jobs(job.project, [job.id], changer, self.clock.now())

    async def _remember(self, entry: Entry) -> None:
        """Keep the count of a job that code declares, before it goes: the code brings it back."""
        job, document = entry.job, removed_document(entry)
        if job.declared is not None:
            record = Record(kind=REMOVED_KIND, project=job.project, key=job.name, document=document)
            await self.store.put_record(record, self.clock.now())

    async def _clear_deleted_projects(self) -> None:
        """Delete what was added to a project by a process that had not noticed its deletion yet."""
        now, most = self.clock.now(), self.settings.batch
        late = await self.store.list_records(DELETED_KIND, PLATFORM_PROJECT, "", now, most)
        for name in [record.key for record in late]:
            project = await self.store.get_record(PROJECT_KIND, PLATFORM_PROJECT, name, now)
            if project is None or project.document.get("deleted_at") is None:
                continue  # its deletion broke off, and is to be repeated
            page = await self.store.list_jobs(JobFilter(project=name), limit=most)
            if page.items:
                ids = [entry.job.id for entry in page.items]
                await self.store.change_jobs(name, ids, delete(), now)


def _delete_if_finished(version: int) -> Changer:
    """Unless it was edited or resumed since it was looked at."""
    deleting = delete()

    def change(entry: Entry, now: int) -> Change | None:
        if entry.cursor.state is not JobState.FINISHED or entry.job.version != version:
            return None
        return deleting(entry, now)

    return change
