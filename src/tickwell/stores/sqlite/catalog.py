"""Jobs on SQLite."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tickwell.domain.change import Changed, Changer
from tickwell.domain.job import Entry, Job, JobState
from tickwell.ports.records import JobFilter, Page
from tickwell.stores.page_cursor import require_job_cursor
from tickwell.stores.sql.cache import FEW
from tickwell.stores.sql.codec import cursor_to_row, job_counts
from tickwell.stores.sql.edges import jobs_reach
from tickwell.stores.sql.entries import documents_of, entry_of, job_columns, own, page_of
from tickwell.stores.sql.namespace import Namespace
from tickwell.stores.sql.text import clean
from tickwell.stores.sqlite.base import SqliteBase
from tickwell.stores.sqlite.changing import Changes
from tickwell.stores.sqlite.listing import jobs_edge, jobs_query
from tickwell.stores.sqlite.session import Session


class SqliteCatalog(SqliteBase):
    """`ports.store.CatalogStore`."""

    async def add_jobs(self, entries: Sequence[Entry], now: int) -> list[Entry]:
        documents = documents_of(entries)
        known = await self.writer.call(lambda session: _add(session, entries, documents))
        answers = []
        for entry, row in zip(entries, known, strict=True):
            if row is None:
                if len(entries) <= FEW:
                    # The copy is ours: the caller's own is the answer.
                    self.cache.put(own(entry).job)
                answers.append(entry)
            else:
                answers.append(own(entry_of(self.cache, row[1:])))
        return answers

    async def change_jobs(
        self, project: str, ids: Sequence[str], change: Changer, now: int
    ) -> list[Changed]:
        drafts = await self.reader.call(
            lambda session: Changes(session, self.cache, project, now).draft(ids, change)
        )
        with self.cache.unless_rolled_back():
            changed, error = await self.writer.call(
                lambda session: Changes(session, self.cache, project, now).write(drafts, change)
            )
        if error is not None:
            raise error
        return changed

    async def get_jobs(self, project: str, keys: Sequence[str]) -> list[Entry]:
        asked = json.dumps(list(keys))
        rows = await self.reader.call(
            lambda session: session.rows("entries_by_key", asked, project, project)
        )
        return [own(entry_of(self.cache, row[1:])) for row in rows]

    async def count_jobs(self, project: str | None = None) -> dict[JobState, int]:
        rows = await self.reader.call(lambda session: session.rows("job_counts", project, project))
        return job_counts(rows)

    async def list_jobs(
        self, where: JobFilter, cursor: str | None = None, limit: int = 100
    ) -> Page[Entry]:
        require_job_cursor(where, cursor)
        reach = jobs_reach(where)

        def work(session: Session) -> tuple[list[Any], str | None]:
            edge = None
            if reach is not None:
                row = session.connection.execute(*jobs_edge(where, cursor, reach)).fetchone()
                edge = "\0".join(row) if row else None
            query, parameters = jobs_query(where, cursor, edge)
            rows = session.connection.execute(query, (*parameters, limit + 1)).fetchall()
            return [row[1:] for row in rows], edge

        rows, edge = await self.reader.call(work)
        return page_of(self.cache, rows, where, limit, edge)


def _add(
    session: Session, given: Sequence[Entry], documents: list[str]
) -> list[tuple[Any, ...] | None]:
    """Insert the jobs that are new; for the others, what is there already."""
    namespace = _namespace(session, [entry.job for entry in given])
    key: int = session.value("last_job")
    jobs, cursors = [], []
    answers: list[str | None] = []
    for entry, document in zip(given, documents, strict=True):
        job = entry.job
        answers.append(namespace.known(job))
        if answers[-1] is not None:
            continue
        namespace.take(job)
        key += 1
        *columns, version, text = job_columns(job, document)
        head = key, job.id, job.project
        jobs.append((*head, *columns, clean(job.dedupe_key) or None, version, text))
        rest = job.timeout.hard, job.retention.count, job.project
        cursors.append((key, job.id, version, *cursor_to_row(entry.cursor), *rest))
    session.insert("insert_jobs", jobs)
    session.insert("insert_cursors", cursors)
    return [None if id is None else session.row("entry_by_id", id) for id in answers]


def _namespace(session: Session, jobs: list[Job]) -> Namespace:
    ids = json.dumps([job.id for job in jobs])
    namespace = Namespace(dict(session.rows("known_ids", ids)), set(), {})
    for project in {job.project for job in jobs}:
        mine = [job for job in jobs if job.project == project]
        names = session.rows("known_names", json.dumps([job.name for job in mine]), project)
        namespace.names.update((project, name) for (name,) in names)
        keys = json.dumps([clean(job.dedupe_key) for job in mine if job.dedupe_key])
        for key, id in session.rows("known_keys", keys, project):
            namespace.keys[project, key] = id
    return namespace
