"""Jobs with their cursors, from rows and to rows."""

from __future__ import annotations

import marshal
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from tickwell.domain.document import document_of
from tickwell.domain.document.shared_values import texts_of
from tickwell.domain.job import Entry, Job, copied
from tickwell.errors import StoreCorrupt
from tickwell.ports.records import JobFilter, Page
from tickwell.stores.sql.cache import FEW, JobCache
from tickwell.stores.sql.rows.codec import clean, cursor_from_row, document_to_text, tags_to_json


def entry_of(cache: JobCache, row: Any) -> Entry:
    """The job of a row of `entry`, sharing its payload with the cache."""
    return Entry(cache.parse(row[0], row[1], row[11]), cursor_from_row(tuple(row[2:10])))


def own(entry: Entry) -> Entry:
    """The caller's: both parts are frozen but for what the payload holds."""
    job = entry.job
    if isinstance(job.payload, dict | list):
        # JSON throughout, which this copies in a tenth of the time that `deepcopy` takes.
        job = copied(job, payload=marshal.loads(marshal.dumps(job.payload)))  # noqa: S302
    return Entry(job, entry.cursor)


def job_columns(job: Job, document: str) -> tuple[Any, ...]:
    """What the job table holds of a definition beside its identity, as `update_job` takes it."""
    names = job.name, job.name.lower(), job.queue, clean(job.app), tags_to_json(job.tags)
    return *names, job.auto_remove, job.version, document


def documents_of(entries: Sequence[Entry]) -> list[str]:
    """Definitions as text. Those of a few are made once for all who need them; many share most."""
    if len(entries) <= FEW:
        return [document_to_text(document_of(entry)) for entry in entries]
    return texts_of(entries, document_of, document_to_text)


def page_of(
    cache: JobCache, rows: list[Any], where: JobFilter, limit: int, edge: str | None = None
) -> Page[Entry]:
    """A page from rows of `list_jobs`, one more than asked for; what is unreadable is left out.

    The edge is where looking ended, if it ended before the list did.
    """
    items = []
    for row in rows[:limit]:
        with suppress(StoreCorrupt):
            items.append(own(entry_of(cache, row)))
    if len(rows) <= limit:
        return Page(items=items, cursor=edge)
    last = rows[limit - 1]
    return Page(items=items, cursor=_place_of(where, last[3], last[10], last[12], last[0]))


def place(entry: Entry, where: JobFilter) -> str:
    """Where a job stands in a list."""
    job = entry.job
    return _place_of(where, entry.cursor.next_fire_time, job.project, job.name, job.id)


def _place_of(where: JobFilter, fire: int | None, project: str, name: str, id: str) -> str:
    """By time, or by project, name, and id, since deleted jobs share names."""
    if where.fires_before is not None:
        return f"{fire:015}\0{id}"
    return f"{project}\0{name}\0{id}"
