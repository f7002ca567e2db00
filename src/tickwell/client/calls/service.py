"""Queues, workers, previews, health."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tickwell.client.call import Call, fields, get, post
from tickwell.client.results.jobs import Preview
from tickwell.client.results.page import Items, Page
from tickwell.client.results.service import (
    Finding,
    Health,
    HealthDetails,
    Metrics,
    Probe,
    Queue,
    Worker,
)


def list_queues() -> Call[Items[Queue]]:
    """Queues with the project's live executions by state, their workers and their pauses."""
    return get("queues")


def pause_queue(
    name: str, *, note: str | None = None, idempotency_key: str | None = None
) -> Call[Items[Queue]]:
    """Let workers claim nothing from it, for all projects; what is running ends."""
    return post("queues", name, "pause", body=fields(note=note), key=idempotency_key)


def resume_queue(name: str, *, idempotency_key: str | None = None) -> Call[Items[Queue]]:
    """Let workers claim from it again."""
    return post("queues", name, "resume", key=idempotency_key)


def list_workers() -> Call[Page[Worker]]:
    """All workers and their last beats."""
    return get("workers")


def get_worker(id: str) -> Call[Worker]:
    """One worker, with its last beat."""
    return get("workers", id)


def get_metrics(
    *, queue: str | None = None, job: str | None = None, all_projects: bool | None = None
) -> Call[Metrics]:
    """Rates and errors over 1, 5 and 15 minutes, and percentiles of the last 15 minutes."""
    return get("observability", "metrics", queue=queue, job=job, all_projects=all_projects)


def checkup() -> Call[Items[Finding]]:
    """What keeps jobs of the project from running, and what to do about it."""
    return get("checkup")


def preview_cron(
    expr: str, *, tz: str | None = None, dialect: str | None = None, count: int | None = None
) -> Call[Preview]:
    """A cron expression in words, its next fire times, and what may surprise."""
    return get("cron", "preview", expr=expr, tz=tz, dialect=dialect, count=count)


def preview_trigger(
    trigger: Mapping[str, Any], *, count: int | None = None, idempotency_key: str | None = None
) -> Call[Preview]:
    """Any trigger in words, its next fire times, and what may surprise."""
    body = fields(trigger=trigger, count=count)
    return post("triggers", "preview", body=body, key=idempotency_key)


def health() -> Call[Probe]:
    """Whether the process works, and the level of what all projects share."""
    return _root("/health")


def ready() -> Call[Probe]:
    """Whether requests should be sent there."""
    return _root("/readyz")


def alive() -> Call[Health]:
    """Whether the process answers at all."""
    return _root("/healthz")


def health_details() -> Call[HealthDetails]:
    """Everything that was checked, and what to do."""
    return _root("/health/detailed")


def _root(path: str) -> Call[Any]:
    return Call(method="GET", path=path, repeatable=True)
