"""Jobs as documents: the definition as text under its version, the cursor in fields of its own."""

from __future__ import annotations

import json

from tickwell.domain.document import job_to_document
from tickwell.domain.job import Cursor, Entry, Job, Pause
from tickwell.stores.mongo.codec import JOB_STATE_CODE, JOB_STATES, clean, from_json, to_json
from tickwell.stores.mongo.rows import Document
from tickwell.stores.sql.cache import JobCache


def cursor_of(doc: Document) -> Cursor:
    """The cursor of a document."""
    pause = from_json(doc.get("pause"))
    return Cursor(
        state=JOB_STATES[doc["state"]],
        next_fire_time=doc.get("next"),
        after=doc["after"],
        runs=doc.get("runs", 0),
        failures=doc.get("failures", 0),
        nudged=doc.get("nudged", False),
        paused_through=doc.get("paused_through"),
        pause=None if pause is None else Pause(**pause),
    )


def entry_of(cache: JobCache, doc: Document) -> Entry:
    """The job of a document, sharing its payload with the cache."""
    return Entry(cache.parse(doc["_id"], doc["version"], doc["document"]), cursor_of(doc))


def cursor_document(cursor: Cursor) -> Document:
    """The fields of a cursor."""
    doc: Document = {"state": JOB_STATE_CODE[cursor.state], "after": cursor.after}
    for name, value in (("next", cursor.next_fire_time), ("paused_through", cursor.paused_through)):
        if value is not None:
            doc[name] = value
    for name, count in (("runs", cursor.runs), ("failures", cursor.failures)):
        if count:
            doc[name] = count
    if cursor.nudged:
        doc["nudged"] = True
    if cursor.pause is not None:
        pause = cursor.pause
        fields = {"by": pause.by, "why": pause.why, "since": pause.since, "until": pause.until}
        doc["pause"] = to_json(fields)
    return doc


def definition_document(job: Job) -> Document:
    """The fields of a definition; those beside the text are there to be searched."""
    doc: Document = {
        "_id": job.id,
        "project": job.project,
        "name": job.name,
        "search": job.name.lower(),
        "queue": job.queue,
        "version": job.version,
        "document": json.dumps(job_to_document(job), separators=(",", ":")),
    }
    if job.app is not None:
        doc["app"] = clean(job.app)
    if job.tags:
        doc["tags"] = [clean(tag) for tag in job.tags]
    if job.auto_remove:
        doc["auto_remove"] = True
    return doc


def position(doc: Document, order: list[tuple[str, int]]) -> str:
    """Where a job stands in a list."""
    return json.dumps([doc[name] for name, _ in order])
