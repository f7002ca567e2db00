"""The fields of a job's document."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

from tickwell.domain.document.shape import Field, Shape
from tickwell.domain.document.shared_values import Alike, remembered
from tickwell.domain.document.target import TARGET
from tickwell.domain.document.values import (
    ANY,
    DURATION,
    FLAG,
    INSTANT,
    REAL,
    TEXT,
    TEXTS,
    WHOLE,
    Unfit,
    Value,
    choice,
    optional,
)
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.job import Entry, Job, copied
from tickwell.domain.policy import (
    Backoff,
    Delivery,
    Misfire,
    OnMisfire,
    Retention,
    Retry,
    Timeout,
)
from tickwell.domain.trigger import Trigger, trigger_from_document, trigger_to_document
from tickwell.domain.trigger.reader import placed
from tickwell.errors import InvalidJob


def _read(document: Any) -> Trigger:
    if not isinstance(document, dict):
        raise Unfit("is not an object")
    with placed("trigger", "trigger"):
        return trigger_from_document(document)


TRIGGER = remembered(Value(_read, trigger_to_document))


_RETRY = Shape(
    Retry,
    "retry",
    {
        "max_attempts": Field(WHOLE, 3),
        "backoff": Field(choice(Backoff), "exponential"),
        "delay": Field(DURATION, "5s"),
        "factor": Field(REAL, 2.0),
        "cap": Field(DURATION, "1h"),
        "jitter": Field(REAL, 0.1),
        "max_age": Field(optional(DURATION), "1d"),
        "max_losses": Field(optional(WHOLE), 3),
        "max_snoozes": Field(WHOLE, 10),
        "on": Field(TEXTS, ["ConnectionError"]),
        "unless": Field(TEXTS, ["ValueError"]),
    },
    independent=True,
)
_MISFIRE = Shape(
    Misfire,
    "misfire",
    {
        "policy": Field(choice(OnMisfire), "latest"),
        "grace": Field(DURATION, "10s"),
        "catchup_window": Field(DURATION, "1d"),
        "cap": Field(WHOLE, 100),
    },
    independent=True,
)
_CONCURRENCY = Shape(
    Concurrency,
    "concurrency",
    {"key": Field(TEXT, "customer-{payload.customer}"), "limit": Field(WHOLE, 2)},
)
_TIMEOUT = Shape(
    Timeout, "timeout", {"soft": Field(DURATION, "4m30s"), "hard": Field(DURATION, "5m")}
)


def _read_timeout(document: Any) -> Timeout:
    if isinstance(document, str | int | float) and not isinstance(document, bool):
        DURATION.read(document)  # refuses a bare number, as everywhere
        raise Unfit("is not an object", f"Write {json.dumps({'timeout': {'hard': document}})}")
    return _TIMEOUT.read(document)


_RETENTION = Shape(
    Retention,
    "retention",
    {
        "age": Field(DURATION, "30d"),
        "count": Field(WHOLE, 1000),
        "dead": Field(DURATION, "90d"),
    },
    independent=True,
)
#: What the service says of a definition, and nobody writes.
UNWRITTEN = frozenset({"id", "project", "version", "saved_at", "created_at", "app", "declared"})
_JOB = Shape(
    Job,
    "",
    {
        "id": Field(TEXT, "0197c0de-0000-7000-8000-000000000000"),
        "name": Field(TEXT, "daily-report"),
        "project": Field(TEXT, "default"),
        "queue": Field(TEXT, "default"),
        "trigger": Field(TRIGGER, {"cron": "0 9 * * *", "tz": "Europe/Rome"}),
        "target": Field(TARGET, {"call": {"handler": "send_report"}}),
        "payload": Field(ANY, {"to": "ops@example.com"}),
        "priority": Field(WHOLE, 5),
        "retry": Field(remembered(_RETRY.as_value()), {"max_attempts": 3, "delay": "5s"}),
        "misfire": Field(remembered(_MISFIRE.as_value()), {"policy": "latest", "grace": "10s"}),
        "overlap": Field(choice(Overlap), "skip"),
        "concurrency": Field(
            optional(remembered(_CONCURRENCY.as_value())), {"key": "reports", "limit": 2}
        ),
        "rate": Field(optional(TEXT), "100/1m"),
        "rate_key": Field(optional(TEXT), "{payload.customer}"),
        "only_if": Field(optional(TEXT), "has_mail"),
        "check_in": Field(optional(TEXT), "https://hc-ping.com/0b2e1c3a"),
        "unless": Field(optional(TEXT), "pending"),
        "unique_key": Field(optional(TEXT), "{payload.customer}"),
        "debounce": Field(optional(DURATION), "30s"),
        "debounce_max": Field(optional(DURATION), "5m"),
        "delivery": Field(choice(Delivery), "at_least_once"),
        "timeout": Field(
            remembered(Value(_read_timeout, _TIMEOUT.write)), {"soft": "4m30s", "hard": "5m"}
        ),
        "expires": Field(optional(DURATION), "10m"),
        "pause_after": Field(optional(WHOLE), 5),
        "auto_remove": Field(FLAG, True),  # noqa: FBT003 - the example, not a switch
        "dedupe_key": Field(optional(TEXT), "order-4711"),
        "retention": Field(remembered(_RETENTION.as_value()), {"age": "30d", "count": 1000}),
        "app": Field(optional(TEXT), "billing"),
        "declared": Field(optional(TEXT), "5f2b"),
        "description": Field(TEXT, "Sends the report"),
        "tags": Field(TEXTS, ["reports"]),
        "version": Field(WHOLE, 1),
        "saved_at": Field(INSTANT, "2026-11-15T09:00:00Z"),
        "created_at": Field(INSTANT, "2026-11-15T09:00:00Z"),
    },
    unwritten=UNWRITTEN,
    independent=True,
)
_UNSAID = _JOB.default("retention")
_WRITTEN: Alike[Job] = Alike(
    [each.name for each in fields(Job)],
    {"id": None, "name": None, "payload": None, "saved_at": 0, "created_at": 0},
    _JOB.write,
)


def retention_from_document(document: Any) -> Retention:
    """What is left out has its default."""
    return _RETENTION.read(document)


def retention_to_document(retention: Retention, *, whole: bool = False) -> dict[str, Any]:
    """As in a job's document; whole: with what has its default."""
    return _RETENTION.write(retention, whole=whole)


def retention_of(job: Job, otherwise: Retention) -> Retention:
    """That of a job that was read from a document; another where that says nothing of it."""
    is_said = job.retention is not _UNSAID
    return job.retention if is_said else otherwise


def with_retention(job: Job, otherwise: Retention) -> Job:
    """The same job with that."""
    return copied(job, retention=retention_of(job, otherwise))


def job_to_document(job: Job) -> dict[str, Any]:
    """The document of a job: JSON throughout, without what has its default."""
    return _WRITTEN.write(job)


def document_of(entry: Entry) -> dict[str, Any]:
    """The document of an entry's definition, made once: it is stored, audited and answered."""
    if entry.document is None:
        entry.document = job_to_document(entry.job)
    return entry.document


def job_from_document(document: Any) -> Job:
    """The job of a document; `job_to_document` reads back exactly.

    Raises `InvalidJob`, or `InvalidTrigger` for what is wrong with the trigger: the dotted path,
    the reason, an example that works.
    """
    try:
        return _JOB.read(document)
    except Unfit:
        raise InvalidJob(
            "a job is an object",
            hint='For example {"name": "tick", "trigger": {"every": "5m"},'
            ' "target": {"call": {"handler": "tick"}}}',
        ) from None
