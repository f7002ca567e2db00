"""Who skipped single occurrences of a job, and why: kept as long as the answers of its slots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from string import digits

from tickwell.domain.job import Job
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore
from tickwell.services.every_record import every_record

#: The kind of the records, by the id of the job and the fire time.
KIND = "skip"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkipNote:
    """Who skipped an occurrence, why and when."""

    by: str
    why: str
    since: int


async def note_skip(store: RecordStore, job: Job, at: int, note: SkipNote) -> None:
    """Write it down; of several who skip the same occurrence the first is kept."""
    if await store.get_record(KIND, job.project, _key(job, at), note.since) is not None:
        return
    record = Record(
        kind=KIND,
        project=job.project,
        key=_key(job, at),
        document={"by": note.by, "why": note.why, "since": note.since},
        expires_at=at + job.retention.age,
    )
    await store.put_record(record, note.since)


async def forget_skip(store: RecordStore, job: Job, at: int) -> None:
    """The occurrence is to run after all."""
    await store.delete_record(KIND, job.project, _key(job, at))


async def skip_notes(
    store: RecordStore, project: str, job_id: str, now: int
) -> Mapping[int, SkipNote]:
    """The notes of a job by fire time."""
    prefix = f"{job_id}/"
    return {
        int(one.key.removeprefix(prefix)): SkipNote(**one.document)
        async for one in every_record(store, KIND, project, now, prefix=prefix, signs=digits)
    }


def _key(job: Job, at: int) -> str:
    return f"{job.id}/{at:015}"
