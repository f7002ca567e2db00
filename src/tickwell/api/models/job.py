"""Jobs, as documents have them."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from tickwell.api.models.base import Answer, Duration, Instant, Json, Shape
from tickwell.api.models.target import Target
from tickwell.api.models.trigger import Trigger


class Retry(Shape):
    """How often and when a failed attempt is followed by another."""

    max_attempts: int = Field(default=3, ge=1, le=100)
    backoff: Literal["fixed", "linear", "exponential"] = "exponential"
    delay: Duration = "5s"
    factor: float = Field(default=2.0, ge=1)
    cap: Duration = "1h"
    jitter: float = Field(default=0.1, ge=0, le=1)
    max_age: Duration | None = None
    max_losses: int | None = Field(default=3, ge=1, le=100)


class Misfire(Shape):
    """What happens to fire times that nobody answered in time."""

    policy: Literal["skip", "latest", "all"] = "latest"
    grace: Duration = "10s"
    catchup_window: Duration = "1d"
    cap: int = Field(default=100, ge=1, le=1000)


class Concurrency(Shape):
    """How many executions with the same key may run at once."""

    key: str = Field(min_length=1, examples=["customer-{{payload.customer}}"])
    limit: int = Field(default=1, ge=1)


class Timeout(Shape):
    """How long an attempt may take."""

    #: Not given: nine tenths of the hard one.
    soft: Duration | None = None
    hard: Duration = "5m"


class Retention(Shape):
    """How long ended executions are kept."""

    age: Duration = "30d"
    count: int = Field(default=1000, ge=0)
    dead: Duration = "90d"


class Policies(Shape):
    """What may be left out of a definition."""

    queue: str = Field(default="default", min_length=1, max_length=255)
    payload: Json = None
    priority: int = Field(default=5, ge=1, le=10)
    retry: Retry = Field(default_factory=Retry)
    misfire: Misfire = Field(default_factory=Misfire)
    overlap: Literal["skip", "queue_one", "queue_all", "cancel_running", "allow"] = "skip"
    concurrency: Concurrency | None = None
    delivery: Literal["at_least_once", "at_most_once"] = "at_least_once"
    timeout: Timeout = Field(default_factory=Timeout)
    ttl: Duration | None = None
    pause_after: int | None = Field(default=None, ge=1)
    auto_remove: bool = False
    dedupe_key: str | None = Field(default=None, max_length=255)
    retention: Retention = Field(default_factory=Retention)
    description: str = ""
    tags: list[str] = Field(
        default_factory=list, description="50 at most, each of 1 to 255 printable characters."
    )


class JobBody(Policies):
    """A job to be added, or put in the place of another."""

    name: str = Field(min_length=1, max_length=255, examples=["daily-report"])
    trigger: Trigger
    target: Target


class NewPause(Shape):
    """Why a job is added as paused, and until when; `by` and `since` are said by the service."""

    why: str | None = None
    until: Instant | None = None
    by: str | None = None
    since: Instant | None = None


class NewJob(JobBody):
    """A job to be added, paused or not."""

    state: Literal["active", "paused"] = "active"
    pause: NewPause | None = None


class JobPatch(Shape):
    """A JSON merge patch: what is given is changed, null gives a field its default back."""

    name: str | None = None
    trigger: Json = Field(default=None, examples=[{"cron": "0 10 * * *"}])
    target: Json = None
    queue: str | None = None
    payload: Json = None
    priority: int | None = None
    retry: Json = Field(default=None, examples=[{"max_attempts": 5}])
    misfire: Json = None
    overlap: str | None = None
    concurrency: Json = None
    delivery: str | None = None
    timeout: Json = None
    ttl: Json = None
    pause_after: int | None = None
    auto_remove: bool | None = None
    retention: Json = None
    description: str | None = None
    tags: list[str] | None = None


class Pause(Answer):
    """Who paused a job, why, since when and until when."""

    by: str
    why: str
    since: Instant
    until: Instant | None


class Cursor(Answer):
    """What moves in a job."""

    after: Instant
    runs: int
    failures: int


class Job(JobBody, Answer):
    """A job with its cursor; policies that have their default are left out."""

    model_config = ConfigDict(extra="allow")

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
    edited: bool | None = Field(
        default=None, description="Whether a person changed what code declares; that is in force."
    )
    warnings: list[str] | None = Field(
        default=None,
        description="Handlers and queues that no live worker has yet; only of a single job.",
    )


class JobBrief(Answer):
    """A job that a key without `read` changed."""

    id: str
    project: str
    version: int
    state: Literal["active", "paused", "finished", "deleted"]


class JobPage(Answer):
    """A part of a list."""

    items: list[Job]
    next_cursor: str | None


class JobChanged(Answer):
    """A job after a change, and what the change took back."""

    job: Job | JobBrief
    withdrawn: int
    cancelling: int


class Batch(Shape):
    """Jobs to be added together, all or none."""

    jobs: list[NewJob] = Field(min_length=1, max_length=1000)


class BatchDone(Answer):
    """The jobs in the order given; `new` says which were added."""

    items: list[Job] | list[JobBrief]
    new: list[bool]
    warnings: list[str]


class PauseBody(Shape):
    """Why, and until when."""

    note: str = Field(default="", max_length=1000, examples=["the receiver is being moved"])
    until: Instant | None = None


class Fires(Answer):
    """Fire times to come."""

    items: list[Instant]


class Version(Answer):
    """A definition that the job had."""

    version: int
    saved_at: Instant
    definition: dict[str, Json]


class Versions(Answer):
    """Definitions, newest first."""

    items: list[Version]
    next_cursor: str | None
