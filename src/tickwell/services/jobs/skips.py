"""Skips of single occurrences: asked for before they come, and undone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from tickwell.domain import change
from tickwell.domain.execution import PENDING, Execution, Reason, State
from tickwell.domain.job import Entry
from tickwell.errors import WrongState
from tickwell.ids import execution_id
from tickwell.ports.store import CatalogStore, HistoryStore, QueueStore, RecordStore
from tickwell.services.jobs.jobs import Jobs
from tickwell.services.slots.skip_notes import SkipNote, forget_skip, note_skip


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
        await note_skip(self.store, job, at, SkipNote(by=by, why=why, since=now))
        self.jobs.wake()
        self.jobs.on_changed([changed.entry], "skipped_ahead", by, why)
        return Skipped(entry=changed.entry, fire_time=at)

    async def undo(self, project: str, key: str, at: int, *, by: str) -> Skipped:
        """Let a skipped occurrence run after all."""
        entry, now = await self.jobs.get(project, key), self.jobs.clock.now()
        row = await self.store.get_execution(project, execution_id(entry.job.id, at))
        planned = row is not None and row.reason == Reason.BY_PERSON
        changer = change.unskip(at, planned=planned)
        (changed,) = await self.store.change_jobs(project, [entry.job.id], changer, now)
        await forget_skip(self.store, entry.job, at)
        self.jobs.wake()
        self.jobs.on_changed([changed.entry], "unskipped", by, "")
        return Skipped(entry=changed.entry, fire_time=at)


def _require_unclaimed(row: Execution | None) -> None:
    """Refuse an occurrence that a worker has for its instant, or that has begun or ended."""
    if row is not None and row.state not in PENDING | {State.SKIPPED}:
        raise WrongState(
            "execution", row.id, row.state, "one that no worker has claimed can be skipped"
        )
