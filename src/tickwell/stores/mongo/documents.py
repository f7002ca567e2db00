"""Jobs and executions as documents. Fields without a value are left out.

A definition is JSON text under its version; a cursor has fields of its own.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tickwell.domain.document import job_to_document
from tickwell.domain.execution import ENDED, Attempt, Execution, Kind
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Cursor, Entry, Job
from tickwell.domain.step import Step
from tickwell.stores.memory.tables import Row, Waits
from tickwell.stores.mongo.codec import (
    JOB_STATE_CODE,
    JOB_STATES,
    KIND_CODE,
    KINDS,
    OUTCOME_CODE,
    OUTCOMES,
    OVERLAP_CODE,
    OVERLAPS,
    RUNNING,
    STATE_CODE,
    STATES,
    clean,
    from_json,
    to_json,
)
from tickwell.stores.mongo.database import Document
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.rows.codec import halts_from_json, halts_to_json

#: Fields that say nothing about the execution itself: those that protect writes, and its steps.
GUARDS = ("rev", "frozen", "steps")
#: All but the steps, which may be large and are read alone.
WHOLE = {"steps": 0}


@dataclass(slots=True, kw_only=True)
class MongoRow(Row):
    """A row with its permit of a concurrency gate: execution id and revision."""

    permit: str | None = None


def execution_of(doc: Document, *, attempts: bool = True) -> Execution:
    """The execution of a document."""
    get = doc.get
    execution = Execution(
        id=doc["_id"],
        project=doc["project"],
        job_id=doc["job"],
        job_version=doc["version"],
        kind=KINDS[doc["kind"]],
        state=STATES[doc["state"]],
        fire_time=doc["fire_time"],
        run_at=doc["run_at"],
        queue=doc["queue"],
        ability=doc["ability"],
        created_at=doc["created_at"],
        payload=from_json(get("payload")),
        key=get("key"),
        attempt=get("attempt", 0),
        charged=get("charged", 0),
        lost=get("lost", 0),
        returned=get("returned", 0),
        reason=get("reason"),
        worker=get("worker"),
        deadline=get("deadline"),
        cancel_requested=get("cancel", False),
        started_at=get("started_at"),
        ended_at=get("ended_at"),
        error=get("error"),
        result=from_json(get("result")),
        revived_from=get("revived_from"),
        attempts=[_attempt_of(one) for one in get("attempts", ())] if attempts else [],
    )
    if execution.attempts and execution.attempts[-1].result is None:
        execution.attempts[-1].result = from_json(get("result"))
    return execution


def row_of(doc: Document) -> MongoRow:
    """The row of a document, except for the gate that it waits for (see `waits_of`)."""
    get = doc.get
    return MongoRow(
        execution=execution_of(doc),
        rank=doc["rank"],
        overlap=OVERLAPS[doc["overlap"]],
        gate=get("gate"),
        limit=get("limit", 0),
        look_at=doc["look_at"],
        expires_at=get("expires_at"),
        permit_from=doc["run_at"],
        holds_job=get("holds_job", False),
        holds_key="permit" in doc,
        permit=get("permit"),
        claim_id=get("claim", ""),
        called_off=get("called_off", False),
        unique=get("unique"),
    )


def waits_of(doc: Document) -> Waits | None:
    """The gate that an execution waits for."""
    return Waits(doc["waits"]) if "waits" in doc else None


def document_of(row: Row, job: Job) -> Document:
    """The document of a row without its guards; `job` is the current definition."""
    one = row.execution
    doc: Document = {
        "_id": one.id,
        "project": one.project,
        "job": one.job_id,
        "version": one.job_version,
        "kind": KIND_CODE[one.kind],
        "state": STATE_CODE[one.state],
        "fire_time": one.fire_time,
        "run_at": one.run_at,
        "queue": one.queue,
        "ability": one.ability,
        "created_at": one.created_at,
        "rank": row.rank,
        "overlap": OVERLAP_CODE[row.overlap],
        "look_at": row.look_at,
        "hard": job.timeout.hard,
    }
    doc.update((name, value) for name, value in _values(row, job) if value is not None)
    doc.update((name, value) for name, value in _counts(row) if value)
    return doc


def _values(row: Row, job: Job) -> tuple[tuple[str, Any], ...]:
    one = row.execution
    return (
        ("payload", to_json(one.payload)),
        ("key", clean(one.key)),
        ("reason", clean(one.reason)),
        ("worker", clean(one.worker)),
        ("deadline", one.deadline),
        ("started_at", one.started_at),
        ("ended_at", one.ended_at),
        ("error", clean(one.error)),
        ("result", to_json(one.result)),
        ("revived_from", clean(one.revived_from)),
        ("gate", clean(row.gate)),
        ("unique", row.unique),
        ("expires_at", row.expires_at if one.state not in ENDED else None),
        ("waits", None if row.waits is None else str(row.waits)),
        ("permit", row.permit if isinstance(row, MongoRow) and row.holds_key else None),
        ("tied", True if is_tied(row.gate, one.kind, job) else None),
    )


def _counts(row: Row) -> tuple[tuple[str, Any], ...]:
    one = row.execution
    return (
        ("attempt", one.attempt),
        ("charged", one.charged),
        ("lost", one.lost),
        ("returned", one.returned),
        ("cancel", one.cancel_requested),
        ("attempts", _attempt_documents(one)),
        ("limit", row.limit),
        ("holds_job", row.holds_job),
        ("claim", row.claim_id if STATE_CODE[one.state] == RUNNING else ""),
        ("called_off", row.called_off),
    )


def is_tied(gate: str | None, kind: Kind, job: Job) -> bool:
    """Whether the end of an execution changes more than its document and its job's gate."""
    follows = kind is Kind.FIRE and job.trigger.follows_finish
    return gate is not None or follows or job.pause_after is not None


def _attempt_documents(execution: Execution) -> list[Document]:
    """The attempts; the last result of an ended execution is in the execution itself."""
    documents = [_attempt_document(attempt) for attempt in execution.attempts]
    if documents and execution.state in ENDED:
        documents[-1].pop("result", None)
    return documents


def _attempt_document(attempt: Attempt) -> Document:
    """An attempt, as part of its execution's document."""
    doc: Document = {
        "number": attempt.number,
        "outcome": OUTCOME_CODE[attempt.outcome],
        "ended_at": attempt.ended_at,
    }
    for name, value in (
        ("worker", clean(attempt.worker)),
        ("started_at", attempt.started_at),
        ("error", clean(attempt.error)),
        ("result", to_json(attempt.result)),
    ):
        if value is not None:
            doc[name] = value
    return doc


def _attempt_of(doc: Document) -> Attempt:
    return Attempt(
        number=doc["number"],
        outcome=OUTCOMES[doc["outcome"]],
        worker=doc.get("worker"),
        started_at=doc.get("started_at"),
        ended_at=doc["ended_at"],
        error=doc.get("error"),
        result=from_json(doc.get("result")),
    )


def is_gated(overlap: Overlap) -> bool:
    """Whether an execution has to pass its job's own gate."""
    return overlap is not Overlap.ALLOW


def cursor_of(doc: Document) -> Cursor:
    """The cursor of a document."""
    return Cursor(
        state=JOB_STATES[doc["state"]],
        next_fire_time=doc.get("next"),
        after=doc["after"],
        runs=doc.get("runs", 0),
        failures=doc.get("failures", 0),
        nudged=doc.get("nudged", False),
        paused_through=doc.get("paused_through"),
        **halts_from_json(doc.get("pause")),
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
    halts = halts_to_json(cursor)
    if halts is not None:
        doc["pause"] = halts
    return doc


def definition_document(job: Job) -> Document:
    """The fields of a definition: its JSON, and copies of what is searched for."""
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


def page_cursor(doc: Document, order: list[tuple[str, int]]) -> str:
    """The page cursor after a job in a list."""
    return json.dumps([doc[name] for name, _ in order])


def step_key(name: str) -> str:
    """The name of a step as a field may be called, whatever stands in it."""
    return f"n{(clean(name) or '').encode().hex()}"


def step_document(step: Step) -> Document:
    """A step, as part of its execution's document."""
    return {
        "name": clean(step.name),
        "attempt": step.attempt,
        "at": step.at,
        "value": json.dumps(step.value),
        "final": step.is_final,
    }


def steps_of(doc: Document) -> list[Step]:
    """The steps in an execution's document."""
    return [
        Step(
            execution=doc["_id"],
            attempt=each["attempt"],
            name=each["name"],
            value=json.loads(each["value"]),
            at=each["at"],
            is_final=each["final"],
        )
        for each in doc.get("steps", {}).values()
    ]
