"""Live events, as CloudEvents, and which of them to stream."""

from __future__ import annotations

from typing import Literal

from tickwell.services.operations.schema import Input, Instant, Output, field

#: All there are. What begins with `stream` is told whatever was asked for.
EVENT_TYPES = (
    *("execution.fired", "execution.requested", "execution.late", "execution.revived"),
    *("execution.waiting", "execution.blocked", "execution.queued", "execution.parked"),
    *("execution.running", "execution.succeeded", "execution.dead"),
    *("execution.cancelled", "execution.skipped"),
    *("job.added", "job.edited", "job.paused", "job.resumed", "job.deleted", "job.skipped"),
)


class EventQuery(Input):
    """Which events to stream."""

    type: list[str] = field(
        [], description="`execution.dead`, or `execution` for all that begin so; may be repeated."
    )
    job: str | None = field(None, max_length=255, description="A job's name or id.")


class ExecutionNews(Output):
    """An execution as it is now; its payload, result and job's name are left out."""

    id: str
    project: str
    job_id: str
    job_version: int
    kind: str
    state: str
    reason: str | None
    fire_time: Instant
    run_at: Instant
    created_at: Instant
    started_at: Instant | None
    ended_at: Instant | None
    queue: str
    ability: str
    key: str | None
    attempt: int
    charged: int
    lost: int
    returned: int
    worker: str | None
    deadline: Instant | None
    cancel_requested: bool
    error: str | None
    revived_from: str | None


class RevivedNews(Output):
    """A dead execution runs again."""

    id: str


class JobNews(Output):
    """A job was changed, and of a pause by whom and why."""

    name: str
    by: str
    why: str


class SkippedNews(Output):
    """Fire times of a job were passed over, which no execution answers."""

    name: str
    reason: str
    first: Instant
    last: Instant
    count: int


class StreamNews(Output):
    """About the stream itself."""

    read_again: bool


class Event(Output):
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
    time: Instant
    datacontenttype: str
    data: ExecutionNews | RevivedNews | JobNews | SkippedNews | StreamNews
