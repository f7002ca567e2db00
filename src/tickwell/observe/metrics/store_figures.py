"""Figures of the whole store: read once for all scrapers and all processes, and then shared."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from tickwell.clock import Clock
from tickwell.domain.alert.rule import FIRING
from tickwell.domain.execution import LIVE, State
from tickwell.domain.job import Entry, JobState
from tickwell.domain.queue import PAUSE_PROJECT
from tickwell.domain.worker import ALL_ROLES, Liveness
from tickwell.errors import StoreError
from tickwell.observe.metrics.counting import OTHER
from tickwell.ports.records import ExecutionFilter, JobFilter, QueueLength, Record
from tickwell.ports.store import Store
from tickwell.shared_read import SharedRead

#: The record that processes share.
KIND = "metrics"
#: Seconds that a scrape waits for new figures, and that old ones are shown instead.
PATIENCE, STALE = 2.0, 60.0
#: Milliseconds between two counts of all jobs, which reads every one.
JOBS_EVERY = 60_000
#: Milliseconds after which a fire time without a record is unanswered.
GRACE = 10_000
#: Jobs that are overdue, and fire times of all of them, that are counted at most: each fire time
#: takes up to a tenth of a millisecond of the event loop.
MOST_OVERDUE, MOST_MISSED = 1000, 1000
#: Queues with series of their own, the longest first.
MOST_QUEUES = 100


@dataclass(frozen=True, slots=True)
class JobTimes:
    """When a job last succeeded and fires next, in milliseconds."""

    project: str
    job: str
    succeeded_at: int | None
    fires_at: int | None


@dataclass(slots=True, kw_only=True)
class Figures:
    """What was read at one instant."""

    #: Milliseconds of the store's time.
    at: int
    #: By queue and state: how many, and how many of them are due.
    queues: list[tuple[str, str, int, int]] = field(default_factory=list)
    #: Executions on record by state.
    executions: dict[str, int] = field(default_factory=dict)
    jobs: dict[str, int] = field(default_factory=dict)
    jobs_at: int = 0
    #: Live processes by role, and what they run at once.
    roles: dict[str, int] = field(default_factory=dict)
    capacity: int = 0
    unanswered: int = 0
    #: Alerts that fire, by severity.
    alerts: dict[str, int] = field(default_factory=dict)
    times: list[JobTimes] = field(default_factory=list)

    def to_document(self) -> dict[str, Any]:
        """As the record has it."""
        times = [[each.project, each.job, each.succeeded_at, each.fires_at] for each in self.times]
        return {
            "at": self.at,
            "queues": [list(each) for each in self.queues],
            "executions": self.executions,
            "jobs": self.jobs,
            "jobs_at": self.jobs_at,
            "roles": self.roles,
            "capacity": self.capacity,
            "unanswered": self.unanswered,
            "alerts": self.alerts,
            "times": times,
        }

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> Figures:
        """What a record has."""
        queues = [(queue, state, count, due) for queue, state, count, due in document["queues"]]
        times = [JobTimes(*each) for each in document["times"]]
        return cls(**(document | {"queues": queues, "times": times}))


#: The queue lengths of all projects: one read for the figures of the store and of projects.
QueueLengths = SharedRead[None, list[QueueLength]]


class StoreFigures:
    """Reads them when they are older than `life`; scrapers that come meanwhile wait together."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        *,
        life: float,
        job_times: int,
        lengths: QueueLengths,
        project: str | None = None,
    ) -> None:
        self.store = store
        self.lengths = lengths
        self.clock = clock
        self.life = life
        #: Jobs whose times are read.
        self.job_times = job_times
        #: None: the whole store, shared by a record. A project's are read for its own keys.
        self.project = project
        self.is_up = False
        #: What was read last.
        self.known: Figures | None = None
        self._jobs: dict[str, int] = {}
        self._jobs_at = 0
        self._read_at = float("-inf")
        self._reading: asyncio.Task[None] | None = None
        self._counting: asyncio.Task[None] | None = None

    async def read(self) -> Figures | None:
        """The newest figures; None while the store does not answer."""
        if self.clock.monotonic() - self._read_at >= self.life:
            if self._reading is None or self._reading.done():
                self._reading = asyncio.create_task(self._refresh())
            await asyncio.wait([self._reading], timeout=PATIENCE)
        is_fresh = self.clock.monotonic() - self._read_at < max(self.life, STALE)
        return self.known if self.is_up and is_fresh else None

    async def close(self) -> None:
        """Read no more."""
        tasks = [task for task in (self._reading, self._counting) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _refresh(self) -> None:
        began = self.clock.monotonic()
        try:
            async with asyncio.timeout(STALE):
                self.known = await self._shared() or await self._measure()
        except (StoreError, TimeoutError):
            self.is_up = False
            return
        self.is_up, self._read_at = True, began

    async def _shared(self) -> Figures | None:
        """What another process read a moment ago."""
        if self.project is not None:
            return None
        now = self.clock.now()
        record = await self.store.get_record(KIND, PAUSE_PROJECT, self._key, now)
        if record is None:
            return None
        try:
            figures = Figures.from_document(record.document)
        except (KeyError, TypeError, ValueError):  # of another version, during an upgrade
            return None
        return figures if 0 <= now - figures.at < self.life * 1000 else None

    @property
    def _key(self) -> str:
        return f"store/{self.job_times}"

    async def _measure(self) -> Figures:
        now = self.clock.now()
        workers = [each for each in await self.store.list_workers() if each.is_alive(now)]
        stats = await self.store.stats(self.project)
        lengths = await self.lengths.get(None, lambda: self.store.queue_lengths(now))
        if self.project is not None:
            lengths = [each for each in lengths if each.project == self.project]
        figures = Figures(
            at=now,
            queues=_longest(lengths),
            executions={state.value: count for state, count in stats.items()},
            roles=_roles(workers),
            capacity=sum(each.worker.capacity for each in workers),
            unanswered=await self._unanswered(now),
            alerts=await self._alerts(now),
            times=await self._times(),
        )
        await self._look_at_jobs(now)
        figures.jobs, figures.jobs_at = self._jobs, self._jobs_at
        if self.project is None:
            await self._share(figures)
        return figures

    async def _share(self, figures: Figures) -> None:
        record = Record(
            kind=KIND,
            project=PAUSE_PROJECT,
            key=self._key,
            document=figures.to_document(),
            expires_at=figures.at + int(STALE * 1000),
        )
        await self.store.put_record(record, figures.at)

    async def _look_at_jobs(self, now: int) -> None:
        """Count jobs again if that was long ago; no scrape but the first one waits for it."""
        known = self.known
        if known is not None and known.jobs_at > self._jobs_at:  # another process has counted
            self._jobs, self._jobs_at = known.jobs, known.jobs_at
        is_counting = self._counting is not None and not self._counting.done()
        if now - self._jobs_at >= JOBS_EVERY and not is_counting:
            self._counting = asyncio.create_task(self._count_jobs())
            if not self._jobs_at:
                await self._counting

    async def _count_jobs(self) -> None:
        try:
            counted = await self.store.count_jobs(self.project)
        except StoreError:
            return  # the next refresh tries again
        self._jobs = {state.value: count for state, count in counted.items()}
        self._jobs_at = self.clock.now()

    async def _unanswered(self, now: int) -> int:
        """Fire times that a planner had to answer by now: the cursor is moved with the record."""
        active = frozenset({JobState.ACTIVE})
        where = JobFilter(project=self.project, states=active, fires_before=now - GRACE)
        page = await self.store.list_jobs(where, limit=MOST_OVERDUE)
        missed = 0
        for entry in page.items:  # some milliseconds each where fire times are hard to find
            found = _missed(entry, now - GRACE)
            missed += sum(1 for _ in islice(found, MOST_MISSED - missed))
            await asyncio.sleep(0)  # noqa: TID251 - no time passes
        return missed

    async def _alerts(self, now: int) -> dict[str, int]:
        """What the process that evaluates the rules counted."""
        record = await self.store.get_record(FIRING, PAUSE_PROJECT, FIRING, now)
        counted: dict[str, dict[str, int]] = {} if record is None else record.document
        if self.project is not None:
            return counted.get(self.project, {})
        return sum(map(Counter, counted.values()), Counter[str]())

    async def _times(self) -> list[JobTimes]:
        if not self.job_times:
            return []
        page = await self.store.list_jobs(JobFilter(project=self.project), limit=self.job_times)
        return [await self._time(entry) for entry in page.items]

    async def _time(self, entry: Entry) -> JobTimes:
        job, succeeded = entry.job, frozenset({State.SUCCEEDED})
        where = ExecutionFilter(project=job.project, job_id=job.id, states=succeeded)
        found = (await self.store.list_executions(where, limit=1)).items
        ended_at = found[0].ended_at if found else None
        active = entry.cursor.state is JobState.ACTIVE
        fires_at = entry.cursor.next_fire_time if active else None
        return JobTimes(job.project, job.name, ended_at, fires_at)


def _missed(entry: Entry, until: int) -> Iterable[int]:
    """Fire times of a job without a record, later than its last answer."""
    trigger, cursor = entry.job.trigger, entry.cursor
    return (until,) if trigger.follows_finish else trigger.between(cursor.after, until)


def _longest(lengths: Sequence[QueueLength]) -> list[tuple[str, str, int, int]]:
    """By queue and state; of very many queues, the shortest are one."""
    sizes: Counter[str] = Counter()
    for each in lengths:
        sizes[each.queue] += each.count
    named = {queue for queue, _ in sizes.most_common(MOST_QUEUES)}
    # Every state of a queue that has anything: a series that comes and goes is hard to compare.
    queues = sorted({each.queue if each.queue in named else OTHER for each in lengths})
    found = {(queue, state): (0, 0) for queue in queues for state in State if state in LIVE}
    for each in lengths:
        key = each.queue if each.queue in named else OTHER, each.state
        count, due = found[key]
        found[key] = count + each.count, due + each.due
    return [(queue, state.value, *counts) for (queue, state), counts in found.items()]


def _roles(processes: Sequence[Liveness]) -> dict[str, int]:
    """How many live processes have each role; a role without any is 0, so that alerts see it."""
    counted = Counter(role for each in processes for role in each.worker.roles)
    return {role: counted[role] for role in ALL_ROLES}
