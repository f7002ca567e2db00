"""Which definition of a job was in force when: the fire times of the past are those of then."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from tickwell.clock import NEVER
from tickwell.domain.document import job_from_document
from tickwell.domain.job import Entry, Job, JobState
from tickwell.domain.planning import first_cursor
from tickwell.domain.trigger.work import tried_before
from tickwell.ports.store import RecordStore
from tickwell.services.cooperative import paced

#: Old versions that one call to the store reads; their keys end in the number.
_BATCH = 1000
#: Runs that are left over and counted ahead to find the last of them.
FORESEEN = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A definition and the fire times that it answers for: later than `after`, up to `until`."""

    job: Job
    after: int
    until: int | None
    #: The definition that is in force now.
    current: bool

    def within(self, since: int, until: int) -> tuple[int, int]:
        """The part of [since, until) that is its own: later than the first, up to the second."""
        end = until - 1 if self.until is None else min(until - 1, self.until)
        return max(self.after, since - 1), end


async def spans(store: RecordStore, entry: Entry, since: int, now: int) -> list[Span]:
    """The definitions that were in force since then, oldest first; the oldest may begin earlier."""
    job = entry.job
    found = [Span(job=job, after=_begin(job), until=await _end(entry), current=True)]
    for batch in range((job.version - 1) // _BATCH, -1, -1):
        if job.saved_at < since:
            break
        prefix = f"{job.id}/{batch:05}"
        records = await store.list_records("job_version", job.project, prefix, now, _BATCH)
        for record in reversed(records):
            with tried_before():
                old = job_from_document(record.document)
            found.append(Span(job=old, after=_begin(old), until=job.saved_at, current=False))
            job = old
    return found[::-1]


async def _end(entry: Entry) -> int | None:
    """The last fire time of the definition in force, where that is known: its runs may be few."""
    trigger, cursor = entry.job.trigger, entry.cursor
    if cursor.state in {JobState.FINISHED, JobState.DELETED}:
        return cursor.after
    if trigger.max_runs is None or trigger.follows_finish or cursor.state is JobState.PAUSED:
        return None
    left = trigger.max_runs - cursor.runs
    if left > FORESEEN:
        return None
    last = cursor.after
    async for fire in paced(islice(trigger.between(cursor.after, NEVER), left)):
        last = fire
    return last


def _begin(job: Job) -> int:
    """A new job takes up a `Once` that lies within its grace; an edit says so in `saved_at`."""
    return first_cursor(job, job.saved_at).after if job.version == 1 else job.saved_at
