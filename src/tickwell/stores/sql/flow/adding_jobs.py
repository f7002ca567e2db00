"""New jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tickwell.domain.job import Entry, Job
from tickwell.errors import JobExists, JobIdTaken
from tickwell.stores.sql.rows.codec import clean, cursor_to_row
from tickwell.stores.sql.rows.entries import job_columns
from tickwell.stores.sql.session import Session


@dataclass(slots=True)
class Namespace:
    """The ids, names and dedupe keys that are taken, by what is stored and by the batch itself."""

    #: The project of each id.
    ids: dict[str, str]
    #: By project.
    names: set[tuple[str, str]]
    #: By project: the id of the job that has the key.
    keys: dict[tuple[str, str | None], str]

    def known(self, job: Job) -> str | None:
        """The id of the job that this one is, if it is there already."""
        if job.dedupe_key:
            known = self.keys.get((job.project, clean(job.dedupe_key)))
            if known is not None:
                return known
        if job.id not in self.ids:
            return None
        if self.ids[job.id] != job.project:
            raise JobIdTaken(job.id)
        return job.id

    def take(self, job: Job) -> None:
        """Count a new one in, if its name is free."""
        if (job.project, job.name) in self.names:
            raise JobExists(job.name)
        self.names.add((job.project, job.name))
        self.ids[job.id] = job.project
        if job.dedupe_key:
            self.keys[job.project, clean(job.dedupe_key)] = job.id


async def add_jobs(
    session: Session, entries: Sequence[Entry], documents: list[str]
) -> dict[str, Any]:
    """Insert the jobs that are new; for the others, by the id given, what is there already."""
    namespace = await _namespace(session, [entry.job for entry in entries])
    jobs, cursors = [], []
    answers: dict[str, str] = {}
    for entry, document in zip(entries, documents, strict=True):
        job = entry.job
        known = namespace.known(job)
        if known is not None:
            answers[job.id] = known
            continue
        namespace.take(job)
        jobs.append(job_row(job, document))
        cursors.append((job.id, job.version, *moving_row(entry), job.project))
    await session.many("insert_jobs", jobs)
    await session.many("insert_cursors", cursors)
    if not answers:
        return {}
    rows = {row[0]: row for row in await session.rows("entries", list(set(answers.values())))}
    return {given_id: rows[known] for given_id, known in answers.items()}


def job_row(job: Job, document: str) -> tuple[Any, ...]:
    """The columns of `insert_jobs`."""
    *columns, version, text = job_columns(job, document)
    return job.id, job.project, *columns, clean(job.dedupe_key) or None, version, text


def moving_row(entry: Entry) -> tuple[Any, ...]:
    """The columns of `insert_cursors` but for the job, its version and its project."""
    job = entry.job
    return *cursor_to_row(entry.cursor), job.timeout.hard, job.retention.count


async def _namespace(session: Session, jobs: list[Job]) -> Namespace:
    keys = [(job.project, clean(job.dedupe_key)) for job in jobs if job.dedupe_key]
    names = [(job.project, job.name) for job in jobs]
    return Namespace(
        ids=dict(await session.rows("known_ids", [job.id for job in jobs])),
        names={tuple(row) for row in await session.many("known_names", names)},
        keys={(row[0], row[1]): row[2] for row in await session.many("known_keys", keys)},
    )
