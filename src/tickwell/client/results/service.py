"""Workers, queues, events, health."""

from __future__ import annotations

from typing import Any, Literal, TypedDict


class Worker(TypedDict):
    """A worker and its last beat."""

    id: str
    host: str | None
    pid: int | None
    state: str
    queues: list[str]
    abilities: list[str]
    slots: int
    started_at: str
    beat: int
    seen_at: str


class Finding(TypedDict):
    """One thing that a checkup looked at, and what to do about it."""

    check: str
    level: Literal["ok", "warning", "broken"]
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


class Health(TypedDict):
    """Whether the service works."""

    status: str
    service: str


class HealthDetails(Health):
    """How the service is, part by part."""

    database: str
    scheduler_service: str
    store: str
    problems: list[str]
    full: list[str]
    parked: list[str]
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
