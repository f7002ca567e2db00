"""Jobs with their cursors, from rows and to rows."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

from tickwell.domain.job import Entry, Job
from tickwell.ports.records import JobFilter
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.codec import cursor_from_row
from tickwell.stores.sql.text import clean, tags_to_json


def entry_of(cache: JobCache, row: Any) -> Entry:
    """The job of a row of `entry`, sharing its payload with the cache."""
    return Entry(cache.parse(row[0], row[1], row[11]), cursor_from_row(tuple(row[2:10])))


def own(entry: Entry) -> Entry:
    """The caller's: both parts are frozen but for what the payload holds."""
    job = entry.job
    if isinstance(job.payload, dict | list):
        job = replace(job, payload=deepcopy(job.payload))
    return Entry(job, entry.cursor)


def job_columns(job: Job, document: str) -> tuple[Any, ...]:
    """What the job table holds of a definition beside its identity, as `update_job` takes it."""
    names = job.name, job.name.lower(), job.queue, clean(job.app), tags_to_json(job.tags)
    return *names, job.auto_remove, job.version, document


def place(entry: Entry, where: JobFilter) -> str:
    """Where a job stands in a list, by name or by time."""
    if where.fires_before is None:
        return position(entry.job)
    return f"{entry.cursor.next_fire_time:015}\0{entry.job.id}"


def position(job: Job) -> str:
    """Where a job stands in the list: by project, name, and id, since deleted jobs share names."""
    return f"{job.project}\0{job.name}\0{job.id}"
