"""Missed fires that are held: which jobs hold some, and what a person decides about them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from tickwell.clock import Clock
from tickwell.domain.backlog import Backlog, BacklogAnswer
from tickwell.domain.change import Changer, answer_held
from tickwell.domain.fairness import PLATFORM_PROJECT
from tickwell.domain.job import Job, JobState
from tickwell.engine.planning.backlog_gates import BACKLOG_KIND, SETTLED
from tickwell.errors import InvalidInput, NotFound, WrongState
from tickwell.ports.records import JobFilter, Record
from tickwell.ports.store import CatalogStore, RecordStore

#: Runs a second with `all`, unless a person says otherwise; and what is allowed.
BACKLOG_RATE = 10.0
SLOWEST, FASTEST = 0.01, 1000.0
#: Jobs that are read, and changed, at once.
_PAGE = 500
#: Notes that are read at once: one of each project with something held.
_MOST = 10_000
#: What a job may hold fires in.
_HOLDING = frozenset({JobState.ACTIVE, JobState.PAUSED})


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldJob:
    """A job that holds missed fires."""

    job: Job
    backlog: Backlog
    paused: bool


@dataclass(slots=True, kw_only=True)
class Decided:
    """What an answer did."""

    #: Jobs that hold nothing any more.
    jobs: int = 0
    #: Fires that run, and those that are skipped.
    runs: int = 0
    skipped: int = 0
    #: Names of jobs that go on holding theirs, since they are paused.
    paused: list[str] = field(default_factory=list)


class BacklogStore(CatalogStore, RecordStore, Protocol):
    """The part of a store that backlogs need."""


class Backlogs:
    """Reads and answers what is held, of a project or of all (None)."""

    def __init__(self, store: BacklogStore, clock: Clock, wake: Callable[[], None]) -> None:
        self.store = store
        self.clock = clock
        #: Called after a write, so that the loops of this process look at once.
        self.wake = wake

    async def noted(self, project: str | None = None) -> bool:
        """Whether jobs may hold something. Costs one read; a note outlives what it is about."""
        return bool(await self._notes(project))

    async def held(self, project: str | None = None) -> list[HeldJob]:
        """The jobs that hold something, by project and name. Reads all active and paused jobs."""
        notes, found, cursor = await self._notes(project), list[HeldJob](), None
        where = JobFilter(project=project, states=_HOLDING)
        while True:
            page = await self.store.list_jobs(where, cursor, _PAGE)
            for entry in page.items:
                backlog, paused = entry.cursor.backlog, entry.cursor.state is JobState.PAUSED
                if backlog is not None:
                    found.append(HeldJob(job=entry.job, backlog=backlog, paused=paused))
            cursor = page.cursor
            if cursor is None:
                break
        await self._forget(notes, {each.job.project for each in found})
        return sorted(found, key=lambda each: (each.job.project, each.job.name))

    async def of_job(self, project: str, key: str) -> HeldJob:
        """What one job holds, given by name or id."""
        found = await self.store.get_jobs(project, [key])
        if not found:
            raise NotFound("job", key)
        job, cursor = found[0].job, found[0].cursor
        if cursor.backlog is None:
            remedy = "a job that holds missed fires needs an answer"
            raise WrongState("job", job.name, "without held fires", remedy)
        return HeldJob(job=job, backlog=cursor.backlog, paused=cursor.state is JobState.PAUSED)

    async def answer(
        self, held: Iterable[HeldJob], answer: BacklogAnswer, rate: float = BACKLOG_RATE
    ) -> Decided:
        """Answer what these jobs hold; with `ALL`, their runs together keep to the rate."""
        if not SLOWEST <= rate <= FASTEST:
            reason = f"{SLOWEST} to {FASTEST:.0f} runs a second"
            raise InvalidInput(reason, field="rate", hint=f"Use {BACKLOG_RATE:.0f}")
        done, now, before = Decided(), self.clock.now(), 0
        groups = defaultdict[str, list[HeldJob]](list)
        starts, spacing = dict[str, int](), 1000 / rate
        for each in held:
            if each.paused and answer is not BacklogAnswer.SKIP:
                done.paused.append(each.job.name)
                continue
            starts[each.job.id] = now + round(before * spacing)
            before += each.backlog.count
            groups[each.job.project].append(each)
        changer = answer_held(answer, starts, spacing)
        for project, several in groups.items():
            for first in range(0, len(several), _PAGE):
                await self._change(project, several[first : first + _PAGE], changer, now)
        for each in (one for several in groups.values() for one in several):
            runs = {BacklogAnswer.SKIP: 0, BacklogAnswer.LATEST: 1}.get(answer, each.backlog.count)
            done.jobs += 1
            done.runs += runs
            done.skipped += each.backlog.count - runs
        self.wake()
        return done

    async def _change(
        self, project: str, several: Sequence[HeldJob], changer: Changer, now: int
    ) -> None:
        try:
            await self.store.change_jobs(project, [each.job.id for each in several], changer, now)
        except NotFound:  # pruned meanwhile
            if len(several) > 1:
                for each in several:
                    await self._change(project, [each], changer, now)

    async def _notes(self, project: str | None) -> list[Record]:
        now = self.clock.now()
        if project is None:
            return await self.store.list_records(BACKLOG_KIND, PLATFORM_PROJECT, "", now, _MOST)
        found = await self.store.get_record(BACKLOG_KIND, PLATFORM_PROJECT, project, now)
        return [] if found is None else [found]

    async def _forget(self, notes: Sequence[Record], holding: set[str]) -> None:
        """Let notes expire that were there before nothing was found held.

        Not a new one: its planner may hold fires only now.
        """
        now = self.clock.now()
        for note in notes:
            if note.key not in holding and note.document["at"] + SETTLED <= now:
                await self.store.put_record(replace(note, expires_at=now), now, note.version)
