"""The service: health, metrics, queues, workers, bulk operations, errors and queries."""

from __future__ import annotations

from typing import Literal

from tickwell.domain.execution import Kind, State
from tickwell.domain.payload import KEEP
from tickwell.domain.policy import REVIVAL_RATE
from tickwell.services.operations.records.execution import Execution
from tickwell.services.operations.records.trigger import Trigger
from tickwell.services.operations.schema import OMITTED, Input, Instant, Json, Output, field


class Problem(Output):
    """What is wrong, as RFC 9457 has it."""

    type: str = field(example="urn:tickwell:problem:invalid-input")
    title: str
    status: int
    detail: str
    request_id: str
    errors: list[Location] = field([])


class Location(Output):
    """One mistake: a JSON pointer into the body, or a parameter."""

    pointer: str | None = field(None, example="/trigger/cron")
    parameter: str | None = None
    in_: str | None = field(None, alias="in")
    detail: str
    hint: str | None = None


class Rates(Output):
    """Executions per second over the last 1, 5 and 15 minutes."""

    one: float = field(alias="1min", example=10.5)
    five: float = field(alias="5min", example=12.3)
    fifteen: float = field(alias="15min", example=11.8)


class Percentiles(Output):
    """Milliseconds, within 9.1 % of the exact ones; null: there was no attempt."""

    p50: int | None = field(example=150)
    p95: int | None = field(example=500)
    p99: int | None = field(example=1000)


class QueueMetrics(Output):
    """A queue in the last 15 minutes."""

    #: None: all queues that are not named.
    name: str | None = field(description="null: all queues beyond the 25 busiest.")
    rate: float = field(description="Executions that ended, per second.")
    errors: float = field(description="Executions that failed, per second.")
    duration: Percentiles
    lateness: Percentiles


class Metrics(Output):
    """Rates, errors and percentiles of the last minutes."""

    rate: Rates = field(description="Executions that ended, each once, per second.")
    errors: Rates = field(description="Executions that failed for good, per second.")
    duration: Percentiles = field(description="Of attempts, last 15 minutes.")
    lateness: Percentiles = field(description="From due to started, last 15 minutes.")
    queue_depth: int = field(description="Executions queued, blocked or parked.", example=3)
    queues: list[QueueMetrics]


class Worker(Output):
    """A process and its last beat: `state` is alive, silent or lost.

    `host` and `pid` are null to all but platform admins, `abilities` to those who may not edit.
    """

    id: str
    host: str | None
    pid: int | None
    state: str = field(example="alive")
    roles: list[str] = field(example=["planner", "worker"])
    version: str | None
    queues: list[str]
    abilities: list[str]
    busy: int
    capacity: int
    started_at: Instant
    beat: int
    seen_at: Instant


class Workers(Output):
    """All processes."""

    items: list[Worker]
    next_cursor: str | None


class Finding(Output):
    """One thing that was checked, and what to do about it."""

    check: str = field(example="planner")
    level: Literal["green", "amber", "red"]
    text: str
    remedy: str


class Findings(Output):
    """All that was checked, the worst first."""

    items: list[Finding]


class QueuePause(Output):
    """Who paused a queue, why and when."""

    by: str
    why: str
    since: Instant


class Queue(Output):
    """A queue as the project sees it."""

    name: str
    depth: dict[str, int] = field(example={"queued": 3, "running": 1})
    workers: int
    pause: QueuePause | None
    complete: bool


class Queues(Output):
    """All queues."""

    items: list[Queue]


class Note(Input):
    """Why."""

    note: str = field("", max_length=1000)


class DeadGroup(Output):
    """Dead letters that died of the same."""

    signature: str
    count: int
    jobs: int
    newest: Execution


class DeadGroups(Output):
    """The largest group first, of the newest dead letters; `more`: older ones are not counted."""

    items: list[DeadGroup]
    looked_at: int
    more: bool


class DeadFilter(Input):
    """Which dead letters; nothing given: all."""

    job: str | None = None
    queue: str | None = None
    since: Instant | None = None
    until: Instant | None = None
    signature: str | None = None
    search: str | None = field(None, description="Substring of the error.")


class ReviveMany(Input):
    """Which, how fast, and with which payload: then each becomes a new execution."""

    filter: DeadFilter = field(OMITTED)
    rate: float = field(REVIVAL_RATE, ge=0.01, le=1000)
    payload: Json = field(KEEP, keeps_null=True)


class PurgeMany(Input):
    """Which; an empty filter purges all."""

    filter: DeadFilter = field(example={})


class Purged(Output):
    """How many are gone, and whether there may be more of them: then ask again."""

    purged: int
    more: bool


class Revival(Output):
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


class JobSelection(Input):
    """Which jobs; nothing given: all."""

    states: list[Literal["active", "paused", "finished"]] = field([], example=["active"])
    queue: str | None = field(None, max_length=255)
    tag: str | None = field(None, max_length=255)
    app: str | None = field(None, max_length=255)
    search: str | None = field(None, max_length=255, description="Substring of the name.")


class BulkBody(Input):
    """Which jobs, and whether to only report which."""

    # Required, although an empty one chooses all jobs: leaving it out is more likely a slip.
    filter: JobSelection = field(example={})
    dry_run: bool = False


class BulkPause(BulkBody):
    """The same, with a reason and an end."""

    note: str = field("", max_length=1000)
    until: Instant | None = None


class BulkTrigger(BulkBody):
    """The same, with a payload that replaces the jobs' own."""

    payload: Json = None


class BulkDone(Output):
    """What a bulk action did, or would do; the first hundred names."""

    dry_run: bool
    matched: int
    changed: int
    names: list[str]
    refused: dict[str, str]
    more: bool


class PreviewBody(Input):
    """A trigger, and how many fire times to show."""

    trigger: Trigger
    count: int = field(10, ge=1, le=100)


class Preview(Output):
    """A trigger in words, its next fire times, and what may surprise."""

    words: str
    fires: list[Instant]
    warnings: list[str]


class Health(Output):
    """Whether the process answers."""

    status: str = field(example="healthy")
    service: str


class MetricsOfJobs(Output):
    """Jobs by whether they fire."""

    total: int
    enabled: int
    disabled: int


class MetricsOfExecutions(Output):
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


class MetricsSummary(Output):
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


class PageQuery(Input):
    """Which page of a list."""

    cursor: str | None = field(None, max_length=2000)
    limit: int = field(100, ge=1, le=1000)


class JobQuery(PageQuery):
    """Which jobs."""

    state: list[Literal["active", "paused", "finished"]] = field([])
    queue: str | None = field(None, max_length=255)
    tag: str | None = field(None, max_length=255)
    app: str | None = field(None, max_length=255)
    search: str | None = field(None, max_length=255, description="Substring of the name.")


class HistoryQuery(PageQuery):
    """Which executions of a job."""

    state: list[State] = field([])
    kind: Kind | None = None
    since: Instant | None = field(None, description="First fire time, inclusive.")
    until: Instant | None = field(None, description="Last fire time, exclusive.")


class ExecutionQuery(HistoryQuery):
    """Which executions."""

    job: str | None = field(None, max_length=255, description="A job's name or id.")
    queue: str | None = field(None, max_length=255)


class OutputQuery(Input):
    """Which lines of an execution; the next ones are named by the previous answer."""

    attempt: int = field(1, ge=1, le=2**31)
    line: int = field(0, ge=0, le=2**53)


class CursorQuery(Input):
    """Which page of a list whose pages have the size of their content."""

    cursor: str | None = field(None, max_length=1000)


class CountQuery(Input):
    """How many fire times."""

    count: int = field(10, ge=1, le=1000)


class RangeQuery(Input):
    """Which fire times: from, inclusive, and to, exclusive."""

    since: Instant
    until: Instant


class MetricsQuery(Input):
    """Which executions are counted."""

    queue: str | None = field(None, max_length=255, description="Only this queue.")
    job: str | None = field(None, max_length=255, description="Only this job, by name or id.")
    all_projects: bool = field(
        default=False, description="All projects together, which needs platform."
    )


class CronQuery(Input):
    """A cron expression, and how many fire times to show."""

    expr: str = field(max_length=256, example="0 9 * * mon-fri")
    tz: str = field("UTC", max_length=64)
    dialect: Literal["cron", "quartz", "aws", "celery"] = field("cron")
    count: int = field(10, ge=1, le=100)
