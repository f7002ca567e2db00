"""A job as bodies and answers have it, with its target and policies."""

from __future__ import annotations

from typing import Literal, TypeAlias

from tickwell.services.operations.records.trigger import Trigger
from tickwell.services.operations.schema import (
    OMITTED,
    Duration,
    Input,
    Instant,
    Json,
    Output,
    field,
)


class Basic(Input):
    """A user and a password."""

    user: str
    password: str = field(example="{{secret.password}}")


class Bearer(Input):
    """A token."""

    token: str = field(example="{{secret.token}}")


class OAuth(Input):
    """A token that is fetched with client credentials."""

    token_url: str = field(example="https://example.com/token")
    client_id: str
    client_secret: str = field(example="{{secret.client}}")
    scope: str = ""
    audience: str = ""


class WithBasic(Input):
    """Basic authentication."""

    basic: Basic


class WithBearer(Input):
    """A bearer token."""

    bearer: Bearer


class WithOAuth(Input):
    """OAuth 2 client credentials."""

    oauth: OAuth


class HttpCall(Input):
    """A webhook."""

    url: str = field(max_length=2048, example="https://example.com/hook")
    method: str = field("POST", example="POST")
    headers: dict[str, str] = field({})
    query: dict[str, Json] = field({})
    json_: Json = field(None, alias="json")
    text: str | None = None
    body: Json = None
    auth: WithBasic | WithBearer | WithOAuth | None = None
    sign_with: list[str] = field([], example=["{{secret.hook}}"])
    certificate: str | None = None
    timeout: Duration = field("30s")
    retry_on: list[int] = field([408, 425, 429])
    keep: int = 1000


class HandlerCall(Input):
    """A Python handler, by the name under which a worker registered it."""

    handler: str = field(min_length=1, max_length=255, example="send_report")


class TaskCall(Input):
    """A task of a Celery app; a payload is merged into `kwargs`, or replaces `args` as a list."""

    task: str = field(min_length=1, max_length=255, example="shop.tasks.charge")
    args: list[Json] = field([])
    kwargs: dict[str, Json] = field({}, example={"order": 7})
    queue: str = field("", max_length=255, example="billing")
    exchange: str = field("", max_length=255)
    routing_key: str = field("", max_length=255)
    priority: int | None = field(None, ge=0, le=255)
    wait: bool = True


class HttpTarget(Input):
    """A webhook."""

    http: HttpCall


class CallTarget(Input):
    """A Python handler."""

    call: HandlerCall


class CeleryTarget(Input):
    """A Celery task."""

    celery: TaskCall


class NoFields(Input):
    """An object without fields."""


class ExternalTarget(Input):
    """Nothing: the job runs outside and checks in, as a monitor expects."""

    external: NoFields


Target: TypeAlias = HttpTarget | CallTarget | CeleryTarget | ExternalTarget


class Retry(Input):
    """How often and when a failed attempt is followed by another."""

    max_attempts: int = field(3, ge=1, le=100)
    backoff: Literal["fixed", "linear", "exponential"] = "exponential"
    delay: Duration = field("5s")
    factor: float = field(2.0, ge=1)
    cap: Duration = field("1h")
    jitter: float = field(0.1, ge=0, le=1)
    max_age: Duration | None = None
    max_losses: int | None = field(3, ge=1, le=100)
    max_snoozes: int = field(10, ge=0, le=1000)
    on: list[str] = field([], max_length=50)
    unless: list[str] = field([], max_length=50)


class Misfire(Input):
    """What happens to fire times that nobody answered in time."""

    policy: Literal["skip", "latest", "all"] = "latest"
    grace: Duration = field("10s")
    catchup_window: Duration = field("1d")
    cap: int = field(100, ge=1, le=1000)


class Concurrency(Input):
    """How many executions with the same key may run at once."""

    key: str = field(min_length=1, example="customer-{payload.customer}")
    limit: int = field(1, ge=1)


class Timeout(Input):
    """How long an attempt may take."""

    #: Absent: nine tenths of the hard one.
    soft: Duration = field(OMITTED)
    hard: Duration = field("5m")


class Retention(Input):
    """How long ended executions are kept."""

    age: Duration = field("30d")
    count: int = field(1000, ge=0)
    dead: Duration = field("90d")


class Policies(Input):
    """What may be left out of a definition."""

    queue: str = field("default", min_length=1, max_length=255)
    payload: Json = None
    priority: int = field(5, ge=1, le=10)
    retry: Retry = field(OMITTED)
    misfire: Misfire = field(OMITTED)
    overlap: Literal["skip", "queue_one", "queue_all", "cancel_running", "allow"] = "skip"
    concurrency: Concurrency | None = None
    rate: str | None = field(None, example="100/1m")
    rate_key: str | None = field(None, min_length=1, max_length=255, example="{payload.customer}")
    only_if: str | None = field(None, min_length=1, max_length=2048, example="has_mail")
    check_in: str | None = field(
        None, min_length=1, max_length=2048, example="https://hc-ping.com/0b2e1c3a"
    )
    unless: str | None = field(
        None, example="pending", description='"pending", "running", "never", or a duration.'
    )
    unique_key: str | None = field(None, min_length=1, max_length=255, example="{payload.customer}")
    debounce: Duration | None = None
    debounce_max: Duration | None = None
    delivery: Literal["at_least_once", "at_most_once"] = "at_least_once"
    timeout: Timeout = field(OMITTED)
    expires: Duration | None = None
    pause_after: int | None = field(None, ge=1)
    auto_remove: bool = False
    dedupe_key: str | None = field(None, max_length=255)
    retention: Retention = field(OMITTED)
    description: str = ""
    tags: list[str] = field(
        default=[], description="50 at most, each of 1 to 255 printable characters."
    )


class JobBody(Policies):
    """A job to be added, or put in the place of another."""

    name: str = field(min_length=1, max_length=255, example="daily-report")
    trigger: Trigger = field(example={"cron": "0 9 * * mon-fri", "tz": "Europe/Rome"})
    target: Target = field(example={"http": {"url": "https://example.com/hook"}})


class NewPause(Input):
    """Why a job is added as paused, and until when; the service fills in the rest."""

    why: str | None = None
    until: Instant | None = None
    by: str | None = None
    since: Instant | None = None
    scope: str | None = None


class NewJob(JobBody):
    """A job to be added, paused or not."""

    state: Literal["active", "paused"] = "active"
    pause: NewPause | None = None


class JobPatch(Input):
    """A JSON merge patch: what is given is changed, null gives a field its default back."""

    name: str | None = None
    trigger: Json = field(None, example={"cron": "0 10 * * *"})
    target: Json = None
    queue: str | None = None
    payload: Json = None
    priority: int | None = None
    retry: Json = field(None, example={"max_attempts": 5})
    misfire: Json = None
    overlap: str | None = None
    concurrency: Json = None
    rate: str | None = field(None, example="50/1m")
    rate_key: str | None = None
    only_if: str | None = None
    check_in: str | None = None
    unless: str | None = None
    unique_key: str | None = None
    debounce: Json = None
    debounce_max: Json = None
    delivery: str | None = None
    timeout: Json = None
    expires: Json = None
    pause_after: int | None = None
    auto_remove: bool | None = None
    retention: Json = None
    description: str | None = None
    tags: list[str] | None = None


class Pause(Output):
    """Who paused a job, why, since when and until when."""

    by: str
    why: str
    since: Instant
    until: Instant | None
    scope: Literal["job", "project", "platform"] = field(
        description="What was paused; with its project or everything, it resumes with that."
    )


class Cursor(Output):
    """What moves in a job."""

    after: Instant
    runs: int
    failures: int


class Job(JobBody, Output):
    """A job with its cursor; policies that have their default are left out."""

    open = True

    id: str
    project: str
    version: int
    saved_at: Instant
    created_at: Instant
    state: Literal["active", "paused", "finished", "deleted"]
    next_fire_time: Instant | None
    pause: Pause | None
    cursor: Cursor
    app: str | None = None
    declared: str | None = None
    edited: bool | None = field(
        default=None, description="Whether a person changed what code declares; that is in force."
    )
    warnings: list[str] | None = field(
        default=None,
        description="Handlers and queues that no live worker has yet; only of a single job.",
    )


class JobBrief(Output):
    """A job that a key without `read` changed."""

    id: str
    project: str
    version: int
    state: Literal["active", "paused", "finished", "deleted"]


class JobPage(Output):
    """A part of a list."""

    items: list[Job]
    next_cursor: str | None


class JobChanged(Output):
    """A job after a change, and what the change took back."""

    job: Job | JobBrief
    withdrawn: int
    cancelling: int


class Batch(Input):
    """Jobs to be added together, all or none."""

    jobs: list[NewJob] = field(min_length=1, max_length=1000)


class BatchDone(Output):
    """The jobs in the order given; `new` says which were added."""

    items: list[Job] | list[JobBrief]
    new: list[bool]
    warnings: list[str]


class PauseBody(Input):
    """Why, and until when."""

    note: str = field("", max_length=1000, example="the receiver is being moved")
    until: Instant | None = None


class Version(Output):
    """A definition that the job had."""

    version: int
    saved_at: Instant
    definition: dict[str, Json]


class Versions(Output):
    """Definitions, newest first."""

    items: list[Version]
    next_cursor: str | None
