"""What operations answer: documents of the API. Instants are strings in RFC 3339."""

# Written by scripts/clients.py from the declared operations; edit those instead.

from __future__ import annotations

from typing import Any, Generic, Literal, NotRequired, TypedDict, TypeVar

T = TypeVar("T")


class Items(TypedDict, Generic[T]):
    """A whole list."""

    items: list[T]


class Page(TypedDict, Generic[T]):
    """A part of a list; `next_cursor` starts the next part."""

    items: list[T]
    next_cursor: str | None


class Definition(TypedDict):
    """A job to be added, paused or not."""

    queue: NotRequired[str]
    payload: NotRequired[Any]
    priority: NotRequired[int]
    retry: NotRequired[dict[str, Any]]
    misfire: NotRequired[dict[str, Any]]
    overlap: NotRequired[Literal["skip", "queue_one", "queue_all", "cancel_running", "allow"]]
    concurrency: NotRequired[dict[str, Any] | None]
    rate: NotRequired[str | None]
    rate_key: NotRequired[str | None]
    only_if: NotRequired[str | None]
    check_in: NotRequired[str | None]
    unless: NotRequired[str | None]
    unique_key: NotRequired[str | None]
    debounce: NotRequired[str | None]
    debounce_max: NotRequired[str | None]
    delivery: NotRequired[Literal["at_least_once", "at_most_once"]]
    timeout: NotRequired[dict[str, Any]]
    expires: NotRequired[str | None]
    pause_after: NotRequired[int | None]
    auto_remove: NotRequired[bool]
    dedupe_key: NotRequired[str | None]
    retention: NotRequired[dict[str, Any]]
    description: NotRequired[str]
    tags: NotRequired[list[str]]
    name: str
    trigger: dict[str, Any]
    target: dict[str, Any]
    state: NotRequired[Literal["active", "paused"]]
    pause: NotRequired[dict[str, Any] | None]


class Pause(TypedDict):
    """Who paused a job, why, since when and until when."""

    by: str
    why: str
    since: str
    until: str | None
    scope: Literal["job", "project", "platform"]


class Cursor(TypedDict):
    """What moves in a job."""

    after: str
    runs: int
    failures: int


class Job(TypedDict):
    """A job with its cursor; policies that have their default are left out."""

    queue: NotRequired[str]
    payload: NotRequired[Any]
    priority: NotRequired[int]
    retry: NotRequired[dict[str, Any]]
    misfire: NotRequired[dict[str, Any]]
    overlap: NotRequired[Literal["skip", "queue_one", "queue_all", "cancel_running", "allow"]]
    concurrency: NotRequired[dict[str, Any] | None]
    rate: NotRequired[str | None]
    rate_key: NotRequired[str | None]
    only_if: NotRequired[str | None]
    check_in: NotRequired[str | None]
    unless: NotRequired[str | None]
    unique_key: NotRequired[str | None]
    debounce: NotRequired[str | None]
    debounce_max: NotRequired[str | None]
    delivery: NotRequired[Literal["at_least_once", "at_most_once"]]
    timeout: NotRequired[dict[str, Any]]
    expires: NotRequired[str | None]
    pause_after: NotRequired[int | None]
    auto_remove: NotRequired[bool]
    dedupe_key: NotRequired[str | None]
    retention: NotRequired[dict[str, Any]]
    description: NotRequired[str]
    tags: NotRequired[list[str]]
    name: str
    trigger: dict[str, Any]
    target: dict[str, Any]
    id: str
    project: str
    version: int
    saved_at: str
    created_at: str
    state: Literal["active", "paused", "finished", "deleted"]
    next_fire_time: str | None
    pause: Pause | None
    cursor: Cursor
    app: NotRequired[str | None]
    declared: NotRequired[str | None]
    edited: NotRequired[bool | None]
    warnings: NotRequired[list[str] | None]


class JobBrief(TypedDict):
    """A job that a key without `read` changed."""

    id: str
    project: str
    version: int
    state: Literal["active", "paused", "finished", "deleted"]


class BatchDone(TypedDict):
    """The jobs in the order given; `new` says which were added."""

    items: list[Job]
    new: list[bool]
    warnings: list[str]


class JobChanged(TypedDict):
    """A job after a change, and what the change took back."""

    job: Job
    withdrawn: int
    cancelling: int


class OccurrenceSkipped(TypedDict):
    """An occurrence, and whether it is skipped now."""

    job_id: str
    fire_time: str
    skipped: bool


class Response(TypedDict):
    """What a webhook was answered with, as it is kept: capped, and without credentials."""

    status: int
    headers: NotRequired[dict[str, str]]
    body: str
    bytes: int
    cut: NotRequired[bool]


class Attempt(TypedDict):
    """One try at an execution."""

    number: int
    outcome: str
    worker: str | None
    started_at: str | None
    ended_at: str
    error: str | None
    response: Response | None


class Progress(TypedDict):
    """How far an attempt under way is, by its own account: from 0 to 1."""

    attempt: int
    fraction: float
    message: str
    at: str


class Log(TypedDict):
    """The last lines that an attempt printed and logged."""

    attempt: int
    first: int
    lines: list[str]


class Step(TypedDict):
    """What an execution has done and does not do again; or its checkpoint, without a name."""

    name: str
    attempt: int
    at: str
    value: Any


class Wait(TypedDict):
    """A question of an execution to somebody outside, and what came of it."""

    name: str
    state: Literal["open", "answered", "expired"]
    expires_at: str
    ended_at: str | None
    answer: Any
    by: str | None


class Execution(TypedDict):
    """One occurrence of a job; from `attempts` on there when it is read alone."""

    id: str
    project: str
    job_id: str
    job_name: str | None
    job_version: int
    kind: str
    state: str
    reason: str | None
    fire_time: str
    run_at: str
    created_at: str
    started_at: str | None
    ended_at: str | None
    queue: str
    ability: str
    payload: Any
    key: str | None
    attempt: int
    charged: int
    lost: int
    returned: int
    worker: str | None
    deadline: str | None
    cancel_requested: bool
    error: str | None
    result: Any
    revived_from: str | None
    is_new: NotRequired[bool | None]
    soft_deadline: NotRequired[str | None]
    hard_deadline: NotRequired[str | None]
    attempts: NotRequired[list[Attempt] | None]
    progress: NotRequired[Progress | None]
    logs: NotRequired[list[Log] | None]
    steps: NotRequired[list[Step] | None]
    checkpoint: NotRequired[Step | None]
    waits: NotRequired[list[Wait] | None]


class Backfilled(TypedDict):
    """What a backfill did, or would do: then it has no ids. `next` is where to go on."""

    ids: list[str]
    count: int
    left_alone: int
    next: str | None


class Fires(TypedDict):
    """Fire times to come, and those of them at which a person lets the job not run."""

    items: list[str]
    skipped: list[str]


class Slot(TypedDict):
    """A nominal fire time with its answer."""

    fire_time: str
    answer: str
    reason: str | None
    execution_id: str | None
    state: str | None
    by: str | None
    why: str | None


class Completeness(TypedDict):
    """The slots that were due, counted."""

    due: int
    executed: int
    skipped_by_reason: dict[str, int]
    pruned: int
    unanswered: int
    next: str | None


class Slots(TypedDict):
    """The slots of a range; `next` is where to read on."""

    items: list[Slot]
    next: str | None
    completeness: Completeness


class Version(TypedDict):
    """A definition that the job had."""

    version: int
    saved_at: str
    definition: dict[str, Any]


class OutputPage(TypedDict):
    """Lines of an execution from one on."""

    items: list[Log]
    attempt: int
    line: int
    ended: bool


class Answered(TypedDict):
    """The answer was taken."""

    execution: str
    name: str


class DeadGroup(TypedDict):
    """Dead letters that died of the same."""

    signature: str
    count: int
    jobs: int
    newest: Execution


class DeadGroups(TypedDict):
    """The largest group first, of the newest dead letters; `more`: older ones are not counted."""

    items: list[DeadGroup]
    looked_at: int
    more: bool


class Revival(TypedDict):
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
    started_at: str
    updated_at: str
    ended_at: str | None


class Purged(TypedDict):
    """How many are gone, and whether there may be more of them: then ask again."""

    purged: int
    more: bool


class Pauses(TypedDict):
    """The pauses that the project is under."""

    project: Pause | None
    platform: Pause | None


class PausesChanged(TypedDict):
    """The pauses that the project is under now, and what became of executions."""

    project: Pause | None
    platform: Pause | None
    withdrawn: int
    cancelling: int


class MaintenanceWindow(TypedDict):
    """Times at which jobs do not fire, and why."""

    name: str
    scope: Literal["project", "platform"]
    status: Literal["on", "planned", "over"]
    start: str | None
    end: str | None
    schedule: str
    trigger: dict[str, Any]
    length: str
    tags: list[str]
    queues: list[str]
    note: str
    by: str
    changed_at: str


class Done(TypedDict):
    """What is gone, or done."""

    done: bool


class HeldJob(TypedDict):
    """A job that holds missed fires."""

    job_id: str
    job: str
    project: str
    runs: int
    first: str
    last: str
    since: str
    until: str
    paused: bool


class Backlog(TypedDict):
    """Missed fires that wait for an answer."""

    jobs: int
    runs: int
    items: list[HeldJob]


class BacklogAnswered(TypedDict):
    """What an answer did."""

    jobs: int
    runs: int
    skipped: int
    paused: list[str]


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


class Worker(TypedDict):
    """A process and its last beat: `state` is alive, silent or lost.

    `host` and `pid` are null to all but platform admins, `abilities` to those who may not edit.
    """

    id: str
    host: str | None
    pid: int | None
    state: str
    roles: list[str]
    version: str | None
    queues: list[str]
    abilities: list[str]
    busy: int
    capacity: int
    started_at: str
    beat: int
    seen_at: str


#: Executions per second over the last 1, 5 and 15 minutes.
Rates = TypedDict("Rates", {"1min": float, "5min": float, "15min": float})


class Percentiles(TypedDict):
    """Milliseconds, within 9.1 % of the exact ones; null: there was no attempt."""

    p50: int | None
    p95: int | None
    p99: int | None


class QueueMetrics(TypedDict):
    """A queue in the last 15 minutes."""

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


class Finding(TypedDict):
    """One thing that was checked, and what to do about it."""

    check: str
    level: Literal["green", "amber", "red"]
    text: str
    remedy: str


class Monitor(TypedDict):
    """A job that others run: when it checks in, and how it is."""

    id: str
    name: str
    status: Literal["new", "up", "started", "late", "down", "paused"]
    schedule: str
    trigger: dict[str, Any]
    grace: str
    next_due: str | None
    last_check_in: str | None
    last_text: str | None
    last_log: str | None
    description: str
    tags: list[str]


class NewMonitor(TypedDict):
    """A monitor with its ping URL, which is shown this once."""

    id: str
    name: str
    status: Literal["new", "up", "started", "late", "down", "paused"]
    schedule: str
    trigger: dict[str, Any]
    grace: str
    next_due: str | None
    last_check_in: str | None
    last_text: str | None
    last_log: str | None
    description: str
    tags: list[str]
    ping_url: str


class PingKey(TypedDict):
    """The ping key of a project, which is shown this once."""

    ping_key: str
    ping_url: str


class Alert(TypedDict):
    """Something that is not well: `status` is firing, silenced or pending."""

    rule: str
    condition: str
    words: str
    severity: Literal["critical", "warning"]
    status: Literal["firing", "silenced", "pending"]
    job_id: str | None
    name: str
    text: str
    since: str


class AlertNoticeSubject(TypedDict):
    """What a notice was about."""

    job_id: str | None
    name: str
    text: str
    since: str


class AlertNotice(TypedDict):
    """What was reported: `more` alerts are not named."""

    rule: str
    words: str
    type: Literal["firing", "silenced", "resolved"]
    at: str
    repeated: bool
    alerts: list[AlertNoticeSubject]
    more: int


class AlertsTested(TypedDict):
    """The executions that send the test messages; empty: there is no channel."""

    executions: list[str]


class Channel(TypedDict):
    """Where alerts are sent, and which: those that fit all of the filters."""

    id: str
    name: str
    kind: Literal["webhook", "slack", "teams", "pagerduty", "email"]
    to: str
    severity: Literal["critical", "warning"] | None
    job_id: str | None
    tags: list[str]
    queues: list[str]
    created_at: str
    created_by: str


class NewChannel(TypedDict):
    """A channel with the key that webhooks are signed with, which is shown this once."""

    id: str
    name: str
    kind: Literal["webhook", "slack", "teams", "pagerduty", "email"]
    to: str
    severity: Literal["critical", "warning"] | None
    job_id: str | None
    tags: list[str]
    queues: list[str]
    created_at: str
    created_by: str
    signing_key: str | None


class ChannelPreview(TypedDict):
    """What a channel is sent when an example job is missing."""

    kind: Literal["webhook", "slack", "teams", "pagerduty", "email"]
    to: str
    message: Any


class AlertRule(TypedDict):
    """What to watch for: in one job, or in all of the project."""

    id: str
    condition: str
    words: str
    severity: Literal["critical", "warning"]
    built_in: bool
    job_id: str | None
    after: str | None
    times: int | None
    by: str | None
    tz: str
    repeat: str
    created_at: str | None
    created_by: str | None


class Silence(TypedDict):
    """What is not reported, until when, and why."""

    id: str
    rule: str | None
    job_id: str | None
    until: str
    why: str
    by: str


class BulkDone(TypedDict):
    """What a bulk action did, or would do; the first hundred names."""

    dry_run: bool
    matched: int
    changed: int
    names: list[str]
    refused: dict[str, str]
    more: bool


class Preview(TypedDict):
    """A trigger in words, its next fire times, and what may surprise."""

    words: str
    fires: list[str]
    warnings: list[str]


class SharedCalendar(TypedDict):
    """A calendar that jobs name."""

    name: str
    country: str | None
    subdivision: str | None
    dates: list[str]
    ranges: list[str]
    holidays: list[str]
    version: int
    saved_at: str
    by: str


class CalendarSaved(TypedDict):
    """A calendar, and what became of the jobs that use it."""

    calendar: SharedCalendar
    jobs: int
    refused: dict[str, str]


class Key(TypedDict):
    """An API key without its secret."""

    id: str
    name: str
    role: str
    permissions: list[str]
    created_at: str
    created_by: str
    expires_at: str | None
    replaces: str | None
    last_used_at: str | None


class NewKey(TypedDict):
    """A key with its secret, which is shown this once."""

    id: str
    name: str
    role: str
    permissions: list[str]
    created_at: str
    created_by: str
    expires_at: str | None
    replaces: str | None
    last_used_at: str | None
    key: str


class Member(TypedDict):
    """A member of the project."""

    name: str
    role: str


class User(TypedDict):
    """A user."""

    name: str
    platform: bool
    disabled: bool
    roles: dict[str, str]


class Link(TypedDict):
    """A login link, which is shown this once."""

    link: str


class Project(TypedDict):
    """A project."""

    name: str
    title: str
    created_at: str
    created_by: str


class Export(TypedDict):
    """Everything of a project that can be made again from a document."""

    project: dict[str, str]
    jobs: list[Any]
    members: dict[str, str]
    secrets: list[str]


class Limits(TypedDict):
    """Limits of a project; 0: none."""

    jobs: int
    fires_per_day: int
    fires_per_minute: int
    requests_per_minute: int
    changes_per_minute: int
    runs_per_minute: int
    running: int
    payload: int


class Retained(TypedDict):
    """How long the history of a project's new jobs is kept."""

    age: str
    count: int
    dead: str


class Secret(TypedDict):
    """What may be known of a secret."""

    name: str
    version: int
    saved_at: str
    by: str
    hosts: list[str]


class Entry(TypedDict):
    """An entry of the audit log."""

    id: str
    at: str
    actor: str
    action: str
    subject: str
    before: Any
    after: Any
    address: str | None
    request_id: str | None


class Verified(TypedDict):
    """What a look at the whole chain found."""

    entries: int
    pruned: int
    head: str | None
    problem: str | None


class Rewrapped(TypedDict):
    """How many were under another server key before."""

    rewrapped: int


class Callback(TypedDict):
    """Whom to tell, and of what."""

    id: str
    url: str
    events: list[str]
    job_id: str | None
    created_at: str
    created_by: str


class NewCallback(TypedDict):
    """A callback with the key that it is signed with, which is shown this once."""

    id: str
    url: str
    events: list[str]
    job_id: str | None
    created_at: str
    created_by: str
    signing_key: str


class Me(TypedDict):
    """Who asks."""

    name: str
    project: str
    permissions: list[str]


class Jwks(TypedDict):
    """Public keys, as RFC 7517 has them."""

    keys: list[Any]


class Probe(TypedDict):
    """Whether the process works, and the level of what all projects share.

    `status`: healthy, degraded, or unhealthy with 503.
    """

    status: str
    service: str
    level: Literal["green", "amber", "red"]


class Health(TypedDict):
    """Whether the process answers."""

    status: str
    service: str


class HealthDetails(TypedDict):
    """Everything that was checked."""

    status: str
    service: str
    level: Literal["green", "amber", "red"]
    database: Literal["connected", "disconnected"]
    redis: Literal["connected", "disconnected", "not configured"]
    scheduler_service: Literal["running", "failing", "stopped"]
    store: str
    findings: list[Finding]
    in_hand: int
    backlog: int


class ExecutionNews(TypedDict):
    """An execution as it is now; its payload, result and job's name are left out."""

    id: str
    project: str
    job_id: str
    job_version: int
    kind: str
    state: str
    reason: str | None
    fire_time: str
    run_at: str
    created_at: str
    started_at: str | None
    ended_at: str | None
    queue: str
    ability: str
    key: str | None
    attempt: int
    charged: int
    lost: int
    returned: int
    worker: str | None
    deadline: str | None
    cancel_requested: bool
    error: str | None
    revived_from: str | None


class RevivedNews(TypedDict):
    """A dead execution runs again."""

    id: str


class JobNews(TypedDict):
    """A job was changed, and of a pause by whom and why."""

    name: str
    by: str
    why: str


class SkippedNews(TypedDict):
    """Fire times of a job were passed over, which no execution answers."""

    name: str
    reason: str
    first: str
    last: str
    count: int


class StreamNews(TypedDict):
    """About the stream itself."""

    read_again: bool


class Event(TypedDict):
    """What happened, as a CloudEvent; `type` says what `data` is."""

    specversion: str
    id: str
    source: str
    type: Literal[
        "tickwell.execution.fired",
        "tickwell.execution.requested",
        "tickwell.execution.late",
        "tickwell.execution.revived",
        "tickwell.execution.waiting",
        "tickwell.execution.blocked",
        "tickwell.execution.queued",
        "tickwell.execution.parked",
        "tickwell.execution.running",
        "tickwell.execution.succeeded",
        "tickwell.execution.dead",
        "tickwell.execution.cancelled",
        "tickwell.execution.skipped",
        "tickwell.job.added",
        "tickwell.job.edited",
        "tickwell.job.paused",
        "tickwell.job.resumed",
        "tickwell.job.deleted",
        "tickwell.job.skipped",
        "tickwell.stream.opened",
        "tickwell.stream.gap",
    ]
    subject: str
    time: str
    datacontenttype: str
    data: ExecutionNews
