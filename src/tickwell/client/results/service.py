"""Workers, queues, events, health."""

from __future__ import annotations

from typing import Any, Literal, TypedDict


class Worker(TypedDict):
    """A process and its last beat."""

    id: str
    host: str | None
    pid: int | None
    state: str
    roles: list[str]
    version: str | None
    queues: list[str]
    abilities: list[str]
    busy: int
    slots: int
    started_at: str
    beat: int
    seen_at: str


class Finding(TypedDict):
    """One thing that was checked, and what to do about it."""

    check: str
    level: Literal["green", "amber", "red"]
    text: str
    remedy: str


class QueuePause(TypedDict):
    """Who paused a queue, why and when."""

    by: str
    why: str
    since: str


class Queue(TypedDict):
    """A queue as the project sees it."""

    name: str
    depth: dict[str, int]
    workers: int
    pause: QueuePause | None
    complete: bool


#: Executions per second over the last 1, 5 and 15 minutes.
Rates = TypedDict("Rates", {"1min": float, "5min": float, "15min": float})


class Percentiles(TypedDict):
    """Milliseconds; None: there was no attempt."""

    p50: int | None
    p95: int | None
    p99: int | None


class QueueMetrics(TypedDict):
    """A queue in the last 15 minutes; the name None stands for all queues not listed."""

    name: str | None
    rate: float
    errors: float
    duration: Percentiles
    lateness: Percentiles


class Metrics(TypedDict):
    """Rates, errors and percentiles of the last minutes."""

    rate: Rates
    errors: Rates
    duration: Percentiles
    lateness: Percentiles
    queue_depth: int
    queues: list[QueueMetrics]


class Health(TypedDict):
    """Whether the service works."""

    status: str
    service: str


class Probe(Health):
    """Whether the process works, and the level of what all projects share."""

    level: Literal["green", "amber", "red"]


class HealthDetails(Probe):
    """Everything that was checked."""

    database: Literal["connected", "disconnected"]
    redis: Literal["connected", "disconnected", "not configured"]
    scheduler_service: Literal["running", "failing", "stopped"]
    store: str
    findings: list[Finding]
    in_hand: int
    backlog: int


class Event(TypedDict):
    """What happened, as a CloudEvent."""

    specversion: str
    id: str
    source: str
    type: str
    subject: str
    time: str
    datacontenttype: str
    data: dict[str, Any]
