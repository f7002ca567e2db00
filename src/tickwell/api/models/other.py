"""The other shapes: workers, queues, dead letters, bulk actions, previews, health."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tickwell.api.models.base import Answer, Instant, Json, Shape
from tickwell.api.models.execution import Execution
from tickwell.api.models.trigger import Trigger
from tickwell.domain.policy import REVIVAL_RATE


class Worker(Answer):
    """A process and its last beat: `state` is alive, silent or lost.

    `host` and `pid` are null to all but platform admins, `abilities` to those who may not edit.
    """

    id: str
    host: str | None
    pid: int | None
    state: str = Field(examples=["alive"])
    roles: list[str] = Field(examples=[["planner", "worker"]])
    version: str | None
    queues: list[str]
    abilities: list[str]
    busy: int
    slots: int
    started_at: Instant
    beat: int
    seen_at: Instant


class Workers(Answer):
    """All processes."""

    items: list[Worker]
    next_cursor: str | None


class Finding(Answer):
    """One thing that was checked, and what to do about it."""

    check: str = Field(examples=["planner"])
    level: Literal["green", "amber", "red"]
    text: str
    remedy: str


class Findings(Answer):
    """All that was checked, the worst first."""

    items: list[Finding]


class QueuePause(Answer):
    """Who paused a queue, why and when."""

    by: str
    why: str
    since: Instant


class Queue(Answer):
    """A queue as the project sees it."""

    name: str
    depth: dict[str, int] = Field(examples=[{"queued": 3, "running": 1}])
    workers: int
    pause: QueuePause | None
    complete: bool


class Queues(Answer):
    """All queues."""

    items: list[Queue]


class Note(Shape):
    """Why."""

    note: str = Field(default="", max_length=1000)


class DeadGroup(Answer):
    """Dead letters that died of the same."""

    signature: str
    count: int
    jobs: int
    newest: Execution


class DeadGroups(Answer):
    """The largest group first, of the newest dead letters; `more`: older ones are not counted."""

    items: list[DeadGroup]
    looked_at: int
    more: bool


class DeadFilter(Shape):
    """Which dead letters; nothing given: all."""

    job: str | None = None
    queue: str | None = None
    since: Instant | None = None
    until: Instant | None = None
    signature: str | None = None
    #: A part of what went wrong.
    search: str | None = None


class ReviveMany(Shape):
    """Which, how fast, and with which payload: then each becomes a new execution."""

    filter: DeadFilter = Field(default_factory=DeadFilter)
    rate: float = Field(default=REVIVAL_RATE, ge=0.01, le=1000)
    payload: Json = None


class PurgeMany(Shape):
    """Which; to purge all, say so with an empty filter."""

    filter: DeadFilter


class Purged(Answer):
    """How many are gone, and whether there may be more of them: then ask again."""

    purged: int
    more: bool


class Revival(Answer):
    """How far a revival is."""

    id: str
    state: str
    by: str
    rate: float
    matched: int
    revived: int
    left_out: int
    refused: dict[str, str]
    error: str | None
    started_at: Instant
    updated_at: Instant
    ended_at: Instant | None


class JobSelection(Shape):
    """Which jobs; nothing given: all."""

    states: list[str] | None = Field(default=None, examples=[["active"]])
    queue: str | None = None
    tag: str | None = None
    app: str | None = None
    search: str | None = None


class BulkBody(Shape):
    """Which jobs, and whether to only look."""

    filter: JobSelection
    dry_run: bool = False
    note: str = Field(default="", max_length=1000)
    until: Instant | None = None
    payload: Json = None


class BulkDone(Answer):
    """What a bulk action did, or would do; the first hundred names."""

    dry_run: bool
    matched: int
    changed: int
    names: list[str]
    refused: dict[str, str]
    more: bool


class PreviewBody(Shape):
    """A trigger, and how many fire times to show."""

    trigger: Trigger
    count: int = Field(default=10, ge=1, le=100)


class Preview(Answer):
    """A trigger in words, its next fire times, and what may surprise."""

    words: str
    fires: list[Instant]
    warnings: list[str]


class Health(Answer):
    """Whether the process answers."""

    status: str = Field(examples=["healthy"])
    service: str


class MetricsOfJobs(Answer):
    """Jobs by whether they fire."""

    total: int
    enabled: int
    disabled: int


class MetricsOfExecutions(Answer):
    """Executions on record. What died is both a failure and a dead letter."""

    total: int
    queued: int
    running: int
    success: int
    failure: int
    dead_letter: int
    #: In percent; null before any ended.
    success_rate: float | None
    #: Of the attempts that this process and its worker processes ran.
    avg_duration_ms: float | None


class MetricsSummary(Answer):
    """Metrics in short; scrapers get all of them, as text."""

    timestamp: str
    jobs: MetricsOfJobs
    executions: MetricsOfExecutions


class Probe(Health):
    """Whether the process works, and the level of what all projects share.

    `status`: healthy, degraded, or unhealthy with 503.
    """

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
