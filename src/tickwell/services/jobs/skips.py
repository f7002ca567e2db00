"""Skips of single occurrences: asked for, undone, and who asked for them and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from string import digits
from typing import Protocol

from tickwell.domain import change
from tickwell.domain.execution import PENDING, Execution, Reason, State
from tickwell.domain.job import Entry
from tickwell.errors import WrongState
from tickwell.ids import execution_id
from tickwell.ports.records import Record
from tickwell.ports.store import CatalogStore, HistoryStore, QueueStore, RecordStore
from tickwell.services.every_record import every_record
from tickwell.services.jobs.jobs import Jobs

#: The kind of the records, by the id of the job and the fire time.
KIND = "skip"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkipNote:
    """Who skipped an occurrence, why and when."""

    by: str
    why: str
    since: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """An occurrence that was skipped, or is to run after all."""

    entry: Entry
    fire_time: int


class SkipStore(CatalogStore, HistoryStore, QueueStore, RecordStore, Protocol):
    """The part of a store that skips need."""


class Skips:
    """Skips one occurrence of a job before it comes, and undoes that."""

    def __init__(self, store: SkipStore, jobs: Jobs) -> None:
        self.store = store
        self.jobs = jobs

    async def skip(self, project: str, key: str, at: int, *, by: str, why: str = "") -> Skipped:
        """Skip the occurrence of this fire time; it can be undone until then."""
        entry, now = await self.jobs.get(project, key), self.jobs.clock.now()
        job = entry.job
        id = execution_id(job.id, at)
        row = await self.store.get_execution(project, id)
        _require_unclaimed(row)
        planned = row is not None and row.state in PENDING
        changer = change.skip(at, planned=planned)
        (changed,) = await self.store.change_jobs(project, [job.id], changer, now)
        # What was planned before the mark; after it nothing is.
        await self.store.settle([id], PENDING, State.SKIPPED, Reason.BY_PERSON, now)
        row = await self.store.get_execution(project, id)
        try:
            _require_unclaimed(row)
        except WrongState:
            await self.store.change_jobs(project, [job.id], change.unskip(at), now)
            raise
        if await self.store.get_record(KIND, project, _key(job.id, at), now) is None:
            record = Record(
                kind=KIND,
                project=project,
                key=_key(job.id, at),
                document={"by": by, "why": why, "since": now},
                expires_at=at + job.retention.age,
            )
            await self.store.put_record(record, now)
        self.jobs.wake()
        self.jobs.on_changed([changed.entry], "skipped", by, why)
        return Skipped(entry=changed.entry, fire_time=at)

    async def undo(self, project: str, key: str, at: int, *, by: str) -> Skipped:
        """Let a skipped occurrence run after all."""
        entry, now = await self.jobs.get(project, key), self.jobs.clock.now()
        row = await self.store.get_execution(project, execution_id(entry.job.id, at))
        planned = row is not None and row.reason == Reason.BY_PERSON
        changer = change.unskip(at, planned=planned)
        (changed,) = await self.store.change_jobs(project, [entry.job.id], changer, now)
        await self.store.delete_record(KIND, project, _key(entry.job.id, at))
        self.jobs.wake()
        self.jobs.on_changed([changed.entry], "unskipped", by, "")
        return Skipped(entry=changed.entry, fire_time=at)


async def skip_notes(
    store: RecordStore, project: str, job_id: str, now: int
) -> Mapping[int, SkipNote]:
    """Who skipped occurrences of a job and why, by fire time."""
    prefix = f"{job_id}/"
    return {
        int(one.key.removeprefix(prefix)): SkipNote(
            by=one.document["by"], why=one.document["why"], since=one.document["since"]
        )
        async for one in every_record(store, KIND, project, now, prefix=prefix, signs=digits)
    }


def _key(job_id: str, at: int) -> str:
    return f"{job_id}/{at:015}"


def _require_unclaimed(row: Execution | None) -> None:
    """Refuse an occurrence that a worker has for its instant, or that has begun or ended."""
    if row is not None and row.state not in PENDING | {State.SKIPPED}:
        raise WrongState(
            "execution", row.id, row.state, "one that no worker has claimed can be skipped"
        )
