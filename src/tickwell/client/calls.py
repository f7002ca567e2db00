"""A request for each operation, built from its arguments."""

# Written by scripts/clients.py from the declared operations; edit those instead.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tickwell.client.call import (
    Call,
    Instant,
    duration,
    fields,
    instant,
    request,
    set_fields,
    texts,
)
from tickwell.client.results import (
    Alert,
    AlertNotice,
    AlertRule,
    AlertsTested,
    Answered,
    Backfilled,
    Backlog,
    BacklogAnswered,
    BatchDone,
    BulkDone,
    CalendarSaved,
    Callback,
    Channel,
    ChannelPreview,
    DeadGroups,
    Definition,
    Done,
    Entry,
    Execution,
    Export,
    Finding,
    Fires,
    Health,
    HealthDetails,
    Items,
    Job,
    JobChanged,
    Jwks,
    Key,
    Limits,
    Link,
    MaintenanceWindow,
    Me,
    Member,
    Metrics,
    Monitor,
    NewCallback,
    NewChannel,
    NewKey,
    NewMonitor,
    OccurrenceSkipped,
    OutputPage,
    Page,
    Pauses,
    PausesChanged,
    PingKey,
    Preview,
    Probe,
    Project,
    Purged,
    Queue,
    Retained,
    Revival,
    Rewrapped,
    Secret,
    SharedCalendar,
    Silence,
    Slots,
    User,
    Verified,
    Version,
    Worker,
)
from tickwell.domain.payload import KEEP
from tickwell.domain.trigger.duration import Duration

#: A literal document is checked by its type; what was read from a file is a mapping.
Given = Definition | Mapping[str, Any]


def create_job(definition: Given, *, idempotency_key: str | None = None) -> Call[Job]:
    """Add a job. If its `dedupe_key` exists, return the existing job with status 200."""
    return request(
        "create_job", "POST", "/api/v1/jobs", body=definition, idempotency_key=idempotency_key
    )


def create_jobs(
    definitions: Sequence[Given], *, idempotency_key: str | None = None
) -> Call[BatchDone]:
    """Add up to 1,000 jobs, all or none; the errors of every job are reported."""
    return request(
        "create_jobs",
        "POST",
        "/api/v1/jobs/batch",
        body={"jobs": list(definitions)},
        idempotency_key=idempotency_key,
    )


def list_jobs(
    *,
    cursor: str | None = None,
    limit: int | None = None,
    state: Sequence[str] | None = None,
    queue: str | None = None,
    tag: str | None = None,
    app: str | None = None,
    search: str | None = None,
) -> Call[Page[Job]]:
    """List jobs by name."""
    return request(
        "list_jobs",
        "GET",
        "/api/v1/jobs",
        query=fields(
            cursor=cursor,
            limit=limit,
            state=texts(state),
            queue=queue,
            tag=tag,
            app=app,
            search=search,
        ),
        repeatable=True,
    )


def get_job(key: str) -> Call[Job]:
    """Read one job, by its name or id."""
    return request("get_job", "GET", "/api/v1/jobs/{key}", arguments={"key": key}, repeatable=True)


def replace_job(key: str, definition: Given, *, version: int | None) -> Call[JobChanged]:
    """Replace the definition of a job. A document that was read may be changed and sent back.

    A `state` that differs from the job's is refused: pause or resume the job instead.
    """
    return request(
        "replace_job",
        "PUT",
        "/api/v1/jobs/{key}",
        arguments={"key": key},
        body=definition,
        version=version,
        any_version=True,
    )


def patch_job(key: str, patch: Mapping[str, Any], *, version: int | None) -> Call[JobChanged]:
    """Change fields of a job by a JSON merge patch; null restores a field's default."""
    return request(
        "patch_job",
        "PATCH",
        "/api/v1/jobs/{key}",
        arguments={"key": key},
        body=patch,
        version=version,
        any_version=True,
        content_type="application/merge-patch+json",
    )


def delete_job(key: str, *, version: int | None = None) -> Call[JobChanged]:
    """Delete a job; its history remains until retention ends."""
    return request(
        "delete_job", "DELETE", "/api/v1/jobs/{key}", arguments={"key": key}, version=version
    )


def pause_job(
    key: str,
    *,
    note: str | None = None,
    until: Instant | None = None,
    idempotency_key: str | None = None,
) -> Call[JobChanged]:
    """Pause a job until it is resumed or until an instant; waiting executions are withdrawn."""
    return request(
        "pause_job",
        "POST",
        "/api/v1/jobs/{key}/pause",
        arguments={"key": key},
        body=fields(note=note, until=instant(until, "until")),
        idempotency_key=idempotency_key,
    )


def resume_job(key: str, *, idempotency_key: str | None = None) -> Call[JobChanged]:
    """Resume a job; fire times during the pause are recorded as skipped."""
    return request(
        "resume_job",
        "POST",
        "/api/v1/jobs/{key}/resume",
        arguments={"key": key},
        idempotency_key=idempotency_key,
    )


def skip_occurrence(
    key: str, at: Instant, *, note: str | None = None, idempotency_key: str | None = None
) -> Call[OccurrenceSkipped]:
    """Skip one occurrence of a job in advance; its slot records who skipped it and why."""
    return request(
        "skip_occurrence",
        "POST",
        "/api/v1/jobs/{key}/skip",
        arguments={"key": key},
        body=fields(at=instant(at, "at"), note=note),
        idempotency_key=idempotency_key,
    )


def unskip_occurrence(
    key: str, at: Instant, *, idempotency_key: str | None = None
) -> Call[OccurrenceSkipped]:
    """Undo the skip of an occurrence, until its fire time has come."""
    return request(
        "unskip_occurrence",
        "POST",
        "/api/v1/jobs/{key}/unskip",
        arguments={"key": key},
        body=fields(at=instant(at, "at")),
        idempotency_key=idempotency_key,
    )


def trigger_job(
    key: str,
    payload: Any = None,
    *,
    at: Instant | None = None,
    in_: Duration | None = None,
    unless: str | None = None,
    unique_key: str | None = None,
    debounce: Duration | None = None,
    debounce_max: Duration | None = None,
    idempotency_key: str | None = None,
) -> Call[Execution]:
    """Run a job now, at an instant, or after a delay; with its own payload or with another.

    `is_new` is false where the request found the same run, by its key, `unless` or `debounce`.
    """
    return request(
        "trigger_job",
        "POST",
        "/api/v1/jobs/{key}/trigger",
        arguments={"key": key},
        body=fields(
            payload=payload,
            at=instant(at, "at"),
            in_=duration(in_, "in_"),
            unless=unless,
            unique_key=unique_key,
            debounce=duration(debounce, "debounce"),
            debounce_max=duration(debounce_max, "debounce_max"),
        ),
        idempotency_key=idempotency_key,
    )


def backfill_job(
    key: str,
    since: Instant,
    until: Instant,
    *,
    force: bool = False,
    dry_run: bool = False,
    idempotency_key: str | None = None,
) -> Call[Backfilled]:
    """Run the past fire times of a range that have not run; with `force`, the others again too.

    `dry_run` only counts them. `next` is where to continue.
    """
    return request(
        "backfill_job",
        "POST",
        "/api/v1/jobs/{key}/backfill",
        arguments={"key": key},
        body=fields(
            since=instant(since, "since"),
            until=instant(until, "until"),
            force=force,
            dry_run=dry_run,
        ),
        idempotency_key=idempotency_key,
    )


def next_fires(key: str, *, count: int | None = None) -> Call[Fires]:
    """Preview the next fire times, as far as they are known; `skipped` names those skipped."""
    return request(
        "next_fires",
        "GET",
        "/api/v1/jobs/{key}/next",
        arguments={"key": key},
        query=fields(count=count),
        repeatable=True,
    )


def job_slots(key: str, since: Instant, until: Instant) -> Call[Slots]:
    """List every nominal fire time of a range with its answer, and count them."""
    return request(
        "job_slots",
        "GET",
        "/api/v1/jobs/{key}/slots",
        arguments={"key": key},
        query=fields(since=instant(since, "since"), until=instant(until, "until")),
        repeatable=True,
    )


def job_versions(key: str, *, cursor: str | None = None) -> Call[Page[Version]]:
    """List the job's definitions, newest first; all of them, unless they are very large."""
    return request(
        "job_versions",
        "GET",
        "/api/v1/jobs/{key}/versions",
        arguments={"key": key},
        query=fields(cursor=cursor),
        repeatable=True,
    )


def job_history(
    key: str,
    *,
    cursor: str | None = None,
    limit: int | None = None,
    state: Sequence[str] | None = None,
    kind: str | None = None,
    since: Instant | None = None,
    until: Instant | None = None,
) -> Call[Page[Execution]]:
    """List the executions of a job, newest first."""
    return request(
        "job_history",
        "GET",
        "/api/v1/jobs/{key}/history",
        arguments={"key": key},
        query=fields(
            cursor=cursor,
            limit=limit,
            state=texts(state),
            kind=kind,
            since=instant(since, "since"),
            until=instant(until, "until"),
        ),
        repeatable=True,
    )


def list_executions(
    *,
    cursor: str | None = None,
    limit: int | None = None,
    state: Sequence[str] | None = None,
    kind: str | None = None,
    since: Instant | None = None,
    until: Instant | None = None,
    job: str | None = None,
    queue: str | None = None,
) -> Call[Page[Execution]]:
    """List executions, newest first."""
    return request(
        "list_executions",
        "GET",
        "/api/v1/executions",
        query=fields(
            cursor=cursor,
            limit=limit,
            state=texts(state),
            kind=kind,
            since=instant(since, "since"),
            until=instant(until, "until"),
            job=job,
            queue=queue,
        ),
        repeatable=True,
    )


def get_execution(id: str) -> Call[Execution]:
    """Read one execution with its attempts, steps, progress and log lines."""
    return request(
        "get_execution", "GET", "/api/v1/executions/{id}", arguments={"id": id}, repeatable=True
    )


def get_output(id: str, *, attempt: int | None = None, line: int | None = None) -> Call[OutputPage]:
    """Read the log lines of an execution's attempts from a given line, also while they run."""
    return request(
        "get_output",
        "GET",
        "/api/v1/executions/{id}/output",
        arguments={"id": id},
        query=fields(attempt=attempt, line=line),
        repeatable=True,
    )


def cancel_execution(id: str, *, idempotency_key: str | None = None) -> Call[Execution]:
    """Cancel a pending execution, or ask the worker of a running one to stop it."""
    return request(
        "cancel_execution",
        "POST",
        "/api/v1/executions/{id}/cancel",
        arguments={"id": id},
        idempotency_key=idempotency_key,
    )


def answer_execution(
    id: str, name: str, answer: Any = None, *, idempotency_key: str | None = None
) -> Call[Execution]:
    """Answer a question that an execution waits for, once; the execution continues at once."""
    return request(
        "answer_execution",
        "POST",
        "/api/v1/executions/{id}/answer",
        arguments={"id": id},
        body=fields(name=name, answer=answer),
        idempotency_key=idempotency_key,
    )


def answer_by_link(token: str, *, answer: Any = None) -> Call[Answered]:
    """Answer what an execution waits for, at the address from `run.answer_url`; once."""
    return request(
        "answer_by_link",
        "POST",
        "/api/v1/answers/{token}",
        arguments={"token": token},
        body=fields(answer=answer),
    )


def revive_execution(
    id: str, payload: Any = KEEP, *, idempotency_key: str | None = None
) -> Call[Execution]:
    """Run a dead execution again under its id; with another payload, as a new execution."""
    return request(
        "revive_execution",
        "POST",
        "/api/v1/executions/{id}/revive",
        arguments={"id": id},
        body=fields() | set_fields(payload=payload),
        idempotency_key=idempotency_key,
    )


def dead_letter_groups(
    *,
    job: str | None = None,
    queue: str | None = None,
    since: Instant | None = None,
    until: Instant | None = None,
    signature: str | None = None,
    search: str | None = None,
) -> Call[DeadGroups]:
    """Group dead letters by error, the largest group first; `signature` is a filter for reviving.

    The newest 1,000 dead letters are grouped; `more` says that older ones are not counted.
    """
    return request(
        "dead_letter_groups",
        "GET",
        "/api/v1/dead-letters/groups",
        query=fields(
            job=job,
            queue=queue,
            since=instant(since, "since"),
            until=instant(until, "until"),
            signature=signature,
            search=search,
        ),
        repeatable=True,
    )


def revive_dead_letters(
    *,
    job: str | None = None,
    queue: str | None = None,
    since: Instant | None = None,
    until: Instant | None = None,
    signature: str | None = None,
    search: str | None = None,
    rate: float | None = None,
    payload: Any = KEEP,
    idempotency_key: str | None = None,
) -> Call[Revival]:
    """Start reviving all that match, at a limited rate; `Location` is the record of its progress.

    With a payload each is repeated as a new execution, and the dead one remains; jobs that cannot
    take the payload are left out, and `refused` says why, by job name.
    """
    return request(
        "revive_dead_letters",
        "POST",
        "/api/v1/dead-letters/revive",
        body=fields(
            filter=fields(
                job=job,
                queue=queue,
                since=instant(since, "since"),
                until=instant(until, "until"),
                signature=signature,
                search=search,
            ),
            rate=rate,
        )
        | set_fields(payload=payload),
        idempotency_key=idempotency_key,
    )


def purge_dead_letters(
    *,
    job: str | None = None,
    queue: str | None = None,
    since: Instant | None = None,
    until: Instant | None = None,
    signature: str | None = None,
    search: str | None = None,
    idempotency_key: str | None = None,
) -> Call[Purged]:
    """Delete dead letters that match permanently, 10,000 at a time; `more` says to call again."""
    return request(
        "purge_dead_letters",
        "POST",
        "/api/v1/dead-letters/purge",
        body=fields(
            filter=fields(
                job=job,
                queue=queue,
                since=instant(since, "since"),
                until=instant(until, "until"),
                signature=signature,
                search=search,
            )
        ),
        idempotency_key=idempotency_key,
    )


def get_revival(id: str) -> Call[Revival]:
    """Read the progress of a revival."""
    return request(
        "get_revival",
        "GET",
        "/api/v1/dead-letters/revivals/{id}",
        arguments={"id": id},
        repeatable=True,
    )


def get_pauses() -> Call[Pauses]:
    """Read the pauses of the project and of all projects."""
    return request("get_pauses", "GET", "/api/v1/pauses", repeatable=True)


def pause_project(
    *, note: str | None = None, until: Instant | None = None, idempotency_key: str | None = None
) -> Call[PausesChanged]:
    """Stop all jobs of the project from firing, until resumed or until an instant."""
    return request(
        "pause_project",
        "POST",
        "/api/v1/project/pause",
        body=fields(note=note, until=instant(until, "until")),
        idempotency_key=idempotency_key,
    )


def resume_project(*, idempotency_key: str | None = None) -> Call[PausesChanged]:
    """Let the jobs of the project fire again, except those that are paused themselves."""
    return request(
        "resume_project", "POST", "/api/v1/project/resume", idempotency_key=idempotency_key
    )


def pause_platform(
    *, note: str | None = None, until: Instant | None = None, idempotency_key: str | None = None
) -> Call[PausesChanged]:
    """Stop the jobs of all projects from firing, until resumed or until an instant."""
    return request(
        "pause_platform",
        "POST",
        "/api/v1/platform/pause",
        body=fields(note=note, until=instant(until, "until")),
        idempotency_key=idempotency_key,
    )


def resume_platform(*, idempotency_key: str | None = None) -> Call[PausesChanged]:
    """Let all jobs fire again, except projects and jobs that are paused themselves."""
    return request(
        "resume_platform", "POST", "/api/v1/platform/resume", idempotency_key=idempotency_key
    )


def list_maintenance() -> Call[Items[MaintenanceWindow]]:
    """List maintenance windows of the project and of all projects: first those that are on."""
    return request("list_maintenance", "GET", "/api/v1/maintenance", repeatable=True)


def put_maintenance(
    name: str,
    *,
    start: Instant | None = None,
    end: Instant | None = None,
    trigger: Mapping[str, Any] | None = None,
    length: Duration | None = None,
    tags: Sequence[str] | None = None,
    queues: Sequence[str] | None = None,
    note: str | None = None,
) -> Call[MaintenanceWindow]:
    """Add or replace a maintenance window; fire times inside are skipped as `maintenance`."""
    return request(
        "put_maintenance",
        "PUT",
        "/api/v1/maintenance/{name}",
        arguments={"name": name},
        body=fields(
            start=instant(start, "start"),
            end=instant(end, "end"),
            trigger=trigger,
            length=duration(length, "length"),
            tags=texts(tags),
            queues=texts(queues),
            note=note,
        ),
        repeatable=True,
    )


def end_maintenance(name: str, *, idempotency_key: str | None = None) -> Call[MaintenanceWindow]:
    """End a maintenance window that is on; one that recurs begins again at its next time."""
    return request(
        "end_maintenance",
        "POST",
        "/api/v1/maintenance/{name}/end",
        arguments={"name": name},
        idempotency_key=idempotency_key,
    )


def delete_maintenance(name: str) -> Call[Done]:
    """Delete a maintenance window; fire times that it skipped stay skipped."""
    return request(
        "delete_maintenance", "DELETE", "/api/v1/maintenance/{name}", arguments={"name": name}
    )


def put_platform_maintenance(
    name: str,
    *,
    start: Instant | None = None,
    end: Instant | None = None,
    trigger: Mapping[str, Any] | None = None,
    length: Duration | None = None,
    tags: Sequence[str] | None = None,
    queues: Sequence[str] | None = None,
    note: str | None = None,
) -> Call[MaintenanceWindow]:
    """Add or replace a maintenance window of all projects."""
    return request(
        "put_platform_maintenance",
        "PUT",
        "/api/v1/platform/maintenance/{name}",
        arguments={"name": name},
        body=fields(
            start=instant(start, "start"),
            end=instant(end, "end"),
            trigger=trigger,
            length=duration(length, "length"),
            tags=texts(tags),
            queues=texts(queues),
            note=note,
        ),
        repeatable=True,
    )


def end_platform_maintenance(
    name: str, *, idempotency_key: str | None = None
) -> Call[MaintenanceWindow]:
    """End a maintenance window of all projects that is on."""
    return request(
        "end_platform_maintenance",
        "POST",
        "/api/v1/platform/maintenance/{name}/end",
        arguments={"name": name},
        idempotency_key=idempotency_key,
    )


def delete_platform_maintenance(name: str) -> Call[Done]:
    """Delete a maintenance window of all projects."""
    return request(
        "delete_platform_maintenance",
        "DELETE",
        "/api/v1/platform/maintenance/{name}",
        arguments={"name": name},
    )


def get_backlog() -> Call[Backlog]:
    """List the jobs of the project that hold missed fires."""
    return request("get_backlog", "GET", "/api/v1/backlog", repeatable=True)


def answer_backlog(
    answer: str,
    *,
    rate: float | None = None,
    job: str | None = None,
    idempotency_key: str | None = None,
) -> Call[BacklogAnswered]:
    """Decide about the held fires of the project, or of one job: skip, latest or all."""
    return request(
        "answer_backlog",
        "POST",
        "/api/v1/backlog/answer",
        body=fields(answer=answer, rate=rate, job=job),
        idempotency_key=idempotency_key,
    )


def get_platform_backlog() -> Call[Backlog]:
    """List the jobs of all projects that hold missed fires."""
    return request("get_platform_backlog", "GET", "/api/v1/platform/backlog", repeatable=True)


def answer_platform_backlog(
    answer: str, *, rate: float | None = None, idempotency_key: str | None = None
) -> Call[BacklogAnswered]:
    """Decide about the held fires of all projects: skip, latest or all."""
    return request(
        "answer_platform_backlog",
        "POST",
        "/api/v1/platform/backlog/answer",
        body=fields(answer=answer, rate=rate),
        idempotency_key=idempotency_key,
    )


def list_queues() -> Call[Items[Queue]]:
    """List queues with the project's live executions by state, their workers and pauses."""
    return request("list_queues", "GET", "/api/v1/queues", repeatable=True)


def pause_queue(
    name: str, *, note: str | None = None, idempotency_key: str | None = None
) -> Call[Items[Queue]]:
    """Stop workers from claiming from a queue, for all projects; running attempts continue."""
    return request(
        "pause_queue",
        "POST",
        "/api/v1/queues/{name}/pause",
        arguments={"name": name},
        body=fields(note=note),
        idempotency_key=idempotency_key,
    )


def resume_queue(name: str, *, idempotency_key: str | None = None) -> Call[Items[Queue]]:
    """Let workers claim from a queue again."""
    return request(
        "resume_queue",
        "POST",
        "/api/v1/queues/{name}/resume",
        arguments={"name": name},
        idempotency_key=idempotency_key,
    )


def list_workers() -> Call[Page[Worker]]:
    """List every process that the store remembers, with its last heartbeat."""
    return request("list_workers", "GET", "/api/v1/workers", repeatable=True)


def get_worker(id: str) -> Call[Worker]:
    """Read one process, with its last heartbeat."""
    return request(
        "get_worker", "GET", "/api/v1/workers/{id}", arguments={"id": id}, repeatable=True
    )


def get_metrics(
    *, queue: str | None = None, job: str | None = None, all_projects: bool = False
) -> Call[Metrics]:
    """Read rates and errors over 1, 5 and 15 minutes, and percentiles of the last 15 minutes."""
    return request(
        "get_metrics",
        "GET",
        "/api/v1/observability/metrics",
        query=fields(queue=queue, job=job, all_projects=all_projects),
        repeatable=True,
    )


def checkup() -> Call[Items[Finding]]:
    """List what keeps the project's jobs from running, one sentence each, with a remedy."""
    return request("checkup", "GET", "/api/v1/checkup", repeatable=True)


def list_monitors(*, cursor: str | None = None, limit: int | None = None) -> Call[Page[Monitor]]:
    """List monitors by name, with their status."""
    return request(
        "list_monitors",
        "GET",
        "/api/v1/monitors",
        query=fields(cursor=cursor, limit=limit),
        repeatable=True,
    )


def create_monitor(
    name: str,
    *,
    trigger: Mapping[str, Any] | None = None,
    every: Duration | None = None,
    grace: Duration | None = None,
    description: str | None = None,
    tags: Sequence[str] | None = None,
) -> Call[NewMonitor]:
    """Add a monitor for a job that runs elsewhere; its ping URL is shown once, here."""
    return request(
        "create_monitor",
        "POST",
        "/api/v1/monitors",
        body=fields(
            name=name,
            trigger=trigger,
            every=duration(every, "every"),
            grace=duration(grace, "grace"),
            description=description,
            tags=texts(tags),
        ),
    )


def rotate_ping_key() -> Call[PingKey]:
    """Create or replace the project's ping key; ping URLs with it name the monitor."""
    return request("rotate_ping_key", "POST", "/api/v1/ping-key")


def get_monitor(key: str) -> Call[Monitor]:
    """Read one monitor, by its name or id."""
    return request(
        "get_monitor", "GET", "/api/v1/monitors/{key}", arguments={"key": key}, repeatable=True
    )


def rotate_monitor(key: str) -> Call[NewMonitor]:
    """Replace the ping URL of a monitor; the old one is refused at once."""
    return request(
        "rotate_monitor", "POST", "/api/v1/monitors/{key}/rotate", arguments={"key": key}
    )


def list_alerts() -> Call[Items[Alert]]:
    """List alerts: firing ones first, then silenced and pending ones."""
    return request("list_alerts", "GET", "/api/v1/alerts", repeatable=True)


def list_alert_notices(*, limit: int | None = None) -> Call[Items[AlertNotice]]:
    """List the alert notices of the last 30 days, newest first."""
    return request(
        "list_alert_notices",
        "GET",
        "/api/v1/alerts/history",
        query=fields(limit=limit),
        repeatable=True,
    )


def send_test_alert(*, idempotency_key: str | None = None) -> Call[AlertsTested]:
    """Send a test message to every channel."""
    return request(
        "send_test_alert", "POST", "/api/v1/alerts/test", idempotency_key=idempotency_key
    )


def list_channels() -> Call[Items[Channel]]:
    """List the channels that alerts are sent to, without their secrets."""
    return request("list_channels", "GET", "/api/v1/alerts/channels", repeatable=True)


def create_channel(
    name: str,
    kind: str,
    *,
    url: str | None = None,
    key: str | None = None,
    to: Sequence[str] | None = None,
    severity: str | None = None,
    job: str | None = None,
    tags: Sequence[str] | None = None,
    queues: Sequence[str] | None = None,
) -> Call[NewChannel]:
    """Add a channel: a webhook, a chat, PagerDuty or e-mail; a signing key is shown once, here."""
    return request(
        "create_channel",
        "POST",
        "/api/v1/alerts/channels",
        body=fields(
            name=name,
            kind=kind,
            url=url,
            key=key,
            to=texts(to),
            severity=severity,
            job=job,
            tags=texts(tags),
            queues=texts(queues),
        ),
    )


def delete_channel(name: str) -> Call[Done]:
    """Delete a channel; its pending messages are dropped."""
    return request(
        "delete_channel", "DELETE", "/api/v1/alerts/channels/{name}", arguments={"name": name}
    )


def preview_channel(name: str) -> Call[ChannelPreview]:
    """Preview the message that a channel would get for an example alert."""
    return request(
        "preview_channel",
        "GET",
        "/api/v1/alerts/channels/{name}/preview",
        arguments={"name": name},
        repeatable=True,
    )


def send_channel_test(name: str, *, idempotency_key: str | None = None) -> Call[AlertsTested]:
    """Send a test message to one channel."""
    return request(
        "send_channel_test",
        "POST",
        "/api/v1/alerts/channels/{name}/test",
        arguments={"name": name},
        idempotency_key=idempotency_key,
    )


def list_alert_rules() -> Call[Items[AlertRule]]:
    """List alert rules: the built-in ones, and those of the project."""
    return request("list_alert_rules", "GET", "/api/v1/alerts/rules", repeatable=True)


def create_alert_rule(
    condition: str,
    *,
    job: str | None = None,
    after: Duration | None = None,
    times: int | None = None,
    by: str | None = None,
    tz: str | None = None,
    repeat: Duration | None = None,
    idempotency_key: str | None = None,
) -> Call[AlertRule]:
    """Add an alert rule for one job, or for all jobs of the project."""
    return request(
        "create_alert_rule",
        "POST",
        "/api/v1/alerts/rules",
        body=fields(
            condition=condition,
            job=job,
            after=duration(after, "after"),
            times=times,
            by=by,
            tz=tz,
            repeat=duration(repeat, "repeat"),
        ),
        idempotency_key=idempotency_key,
    )


def delete_alert_rule(id: str) -> Call[Done]:
    """Delete an alert rule, and resolve its alerts."""
    return request("delete_alert_rule", "DELETE", "/api/v1/alerts/rules/{id}", arguments={"id": id})


def list_silences() -> Call[Items[Silence]]:
    """List the silences that have not ended."""
    return request("list_silences", "GET", "/api/v1/alerts/silences", repeatable=True)


def create_silence(
    until: Instant,
    why: str,
    *,
    rule: str | None = None,
    job: str | None = None,
    idempotency_key: str | None = None,
) -> Call[Silence]:
    """Silence the alerts of a rule, a job or the whole project until an instant."""
    return request(
        "create_silence",
        "POST",
        "/api/v1/alerts/silences",
        body=fields(until=instant(until, "until"), why=why, rule=rule, job=job),
        idempotency_key=idempotency_key,
    )


def delete_silence(id: str) -> Call[Done]:
    """End a silence; alerts that still fire are reported."""
    return request("delete_silence", "DELETE", "/api/v1/alerts/silences/{id}", arguments={"id": id})


def bulk_pause(
    *,
    states: Sequence[str] | None = None,
    queue: str | None = None,
    tag: str | None = None,
    app: str | None = None,
    search: str | None = None,
    dry_run: bool = False,
    note: str | None = None,
    until: Instant | None = None,
    idempotency_key: str | None = None,
) -> Call[BulkDone]:
    """Pause all active jobs that match; `dry_run` only lists them."""
    return request(
        "bulk_pause",
        "POST",
        "/api/v1/bulk/pause",
        body=fields(
            filter=fields(states=texts(states), queue=queue, tag=tag, app=app, search=search),
            dry_run=dry_run,
            note=note,
            until=instant(until, "until"),
        ),
        idempotency_key=idempotency_key,
    )


def bulk_resume(
    *,
    states: Sequence[str] | None = None,
    queue: str | None = None,
    tag: str | None = None,
    app: str | None = None,
    search: str | None = None,
    dry_run: bool = False,
    idempotency_key: str | None = None,
) -> Call[BulkDone]:
    """Resume all paused jobs that match; `dry_run` only lists them."""
    return request(
        "bulk_resume",
        "POST",
        "/api/v1/bulk/resume",
        body=fields(
            filter=fields(states=texts(states), queue=queue, tag=tag, app=app, search=search),
            dry_run=dry_run,
        ),
        idempotency_key=idempotency_key,
    )


def bulk_trigger(
    *,
    states: Sequence[str] | None = None,
    queue: str | None = None,
    tag: str | None = None,
    app: str | None = None,
    search: str | None = None,
    dry_run: bool = False,
    payload: Any = None,
    idempotency_key: str | None = None,
) -> Call[BulkDone]:
    """Run all jobs that match once, now; `dry_run` only lists them."""
    return request(
        "bulk_trigger",
        "POST",
        "/api/v1/bulk/trigger",
        body=fields(
            filter=fields(states=texts(states), queue=queue, tag=tag, app=app, search=search),
            dry_run=dry_run,
            payload=payload,
        ),
        idempotency_key=idempotency_key,
    )


def bulk_delete(
    *,
    states: Sequence[str] | None = None,
    queue: str | None = None,
    tag: str | None = None,
    app: str | None = None,
    search: str | None = None,
    dry_run: bool = False,
    idempotency_key: str | None = None,
) -> Call[BulkDone]:
    """Delete all jobs that match; `dry_run` only lists them."""
    return request(
        "bulk_delete",
        "POST",
        "/api/v1/bulk/delete",
        body=fields(
            filter=fields(states=texts(states), queue=queue, tag=tag, app=app, search=search),
            dry_run=dry_run,
        ),
        idempotency_key=idempotency_key,
    )


def preview_cron(
    expr: str, *, tz: str | None = None, dialect: str | None = None, count: int | None = None
) -> Call[Preview]:
    """Explain a cron expression, with its next fire times and what may surprise."""
    return request(
        "preview_cron",
        "GET",
        "/api/v1/cron/preview",
        query=fields(expr=expr, tz=tz, dialect=dialect, count=count),
        repeatable=True,
    )


def preview_trigger(
    trigger: Mapping[str, Any], *, count: int | None = None, idempotency_key: str | None = None
) -> Call[Preview]:
    """Explain any trigger, with its next fire times and what may surprise."""
    return request(
        "preview_trigger",
        "POST",
        "/api/v1/triggers/preview",
        body=fields(trigger=trigger, count=count),
        idempotency_key=idempotency_key,
    )


def list_calendars() -> Call[Items[SharedCalendar]]:
    """List the calendars that jobs of the project may name."""
    return request("list_calendars", "GET", "/api/v1/calendars", repeatable=True)


def get_calendar(name: str) -> Call[SharedCalendar]:
    """Read one calendar."""
    return request(
        "get_calendar", "GET", "/api/v1/calendars/{name}", arguments={"name": name}, repeatable=True
    )


def put_calendar(
    name: str,
    *,
    country: str | None = None,
    subdivision: str | None = None,
    dates: Sequence[str] | None = None,
    ranges: Sequence[str] | None = None,
) -> Call[CalendarSaved]:
    """Add a calendar or replace its days; the change applies at once to jobs that use it."""
    return request(
        "put_calendar",
        "PUT",
        "/api/v1/calendars/{name}",
        arguments={"name": name},
        body=fields(
            country=country, subdivision=subdivision, dates=texts(dates), ranges=texts(ranges)
        ),
        repeatable=True,
    )


def delete_calendar(name: str) -> Call[Done]:
    """Delete a calendar; refused while a job uses it."""
    return request(
        "delete_calendar", "DELETE", "/api/v1/calendars/{name}", arguments={"name": name}
    )


def list_keys() -> Call[Items[Key]]:
    """List the keys of the project, without their secrets."""
    return request("list_keys", "GET", "/api/v1/keys", repeatable=True)


def create_key(
    name: str,
    role: str,
    *,
    permissions: Sequence[str] | None = None,
    expires_at: Instant | None = None,
) -> Call[NewKey]:
    """Create a key; its secret is in this answer and is never shown again."""
    return request(
        "create_key",
        "POST",
        "/api/v1/keys",
        body=fields(
            name=name,
            role=role,
            permissions=texts(permissions),
            expires_at=instant(expires_at, "expires_at"),
        ),
    )


def rotate_key(id: str, *, overlap: Duration | None = None) -> Call[NewKey]:
    """Create a key that replaces this one, which keeps working for the overlap."""
    return request(
        "rotate_key",
        "POST",
        "/api/v1/keys/{id}/rotate",
        arguments={"id": id},
        body=fields(overlap=duration(overlap, "overlap")),
    )


def revoke_key(id: str) -> Call[Done]:
    """Revoke a key; every process refuses it within seconds."""
    return request("revoke_key", "DELETE", "/api/v1/keys/{id}", arguments={"id": id})


def list_members() -> Call[Items[Member]]:
    """List the members of the project with their roles."""
    return request("list_members", "GET", "/api/v1/members", repeatable=True)


def set_member(name: str, role: str) -> Call[Member]:
    """Add a member to the project, or change a member's role."""
    return request(
        "set_member",
        "PUT",
        "/api/v1/members/{name}",
        arguments={"name": name},
        body=fields(role=role),
        repeatable=True,
    )


def remove_member(name: str) -> Call[Done]:
    """Remove a member from the project."""
    return request("remove_member", "DELETE", "/api/v1/members/{name}", arguments={"name": name})


def list_users() -> Call[Items[User]]:
    """List all users, by name."""
    return request("list_users", "GET", "/api/v1/users", repeatable=True)


def create_user(name: str, *, password: str | None = None, platform: bool = False) -> Call[User]:
    """Add a user; without a password they log in by a link, or through another issuer."""
    return request(
        "create_user",
        "POST",
        "/api/v1/users",
        body=fields(name=name, password=password, platform=platform),
    )


def change_user(
    name: str, *, platform: bool | None = None, disabled: bool | None = None
) -> Call[User]:
    """Grant or revoke platform admin, disable or enable login; the user's sessions end."""
    return request(
        "change_user",
        "PATCH",
        "/api/v1/users/{name}",
        arguments={"name": name},
        body=fields(platform=platform, disabled=disabled),
        repeatable=True,
    )


def remove_user(name: str) -> Call[Done]:
    """Remove a user from every project, and end their sessions."""
    return request("remove_user", "DELETE", "/api/v1/users/{name}", arguments={"name": name})


def make_login_link(name: str) -> Call[Link]:
    """Create a link that logs this user in once, within 15 minutes."""
    return request("make_login_link", "POST", "/api/v1/users/{name}/link", arguments={"name": name})


def list_projects() -> Call[Items[Project]]:
    """List all projects, by name."""
    return request("list_projects", "GET", "/api/v1/projects", repeatable=True)


def create_project(
    name: str,
    *,
    title: str | None = None,
    admin: str | None = None,
    idempotency_key: str | None = None,
) -> Call[Project]:
    """Create a project; `admin` is its first member, by default the caller."""
    return request(
        "create_project",
        "POST",
        "/api/v1/projects",
        body=fields(name=name, title=title, admin=admin),
        idempotency_key=idempotency_key,
    )


def export_project(name: str) -> Call[Export]:
    """Export definitions, members, and the names of secrets."""
    return request(
        "export_project",
        "GET",
        "/api/v1/projects/{name}/export",
        arguments={"name": name},
        repeatable=True,
    )


def appoint_admin(name: str, user: str) -> Call[Done]:
    """Make a user an admin of a project, for example when its last admin has left."""
    return request(
        "appoint_admin",
        "PUT",
        "/api/v1/projects/{name}/admins/{user}",
        arguments={"name": name, "user": user},
        repeatable=True,
    )


def set_limits(
    name: str,
    *,
    jobs: int | None = None,
    fires_per_day: int | None = None,
    fires_per_minute: int | None = None,
    requests_per_minute: int | None = None,
    changes_per_minute: int | None = None,
    runs_per_minute: int | None = None,
    running: int | None = None,
    payload: int | None = None,
) -> Call[Limits]:
    """Set the limits of a project."""
    return request(
        "set_limits",
        "PUT",
        "/api/v1/projects/{name}/limits",
        arguments={"name": name},
        body=fields(
            jobs=jobs,
            fires_per_day=fires_per_day,
            fires_per_minute=fires_per_minute,
            requests_per_minute=requests_per_minute,
            changes_per_minute=changes_per_minute,
            runs_per_minute=runs_per_minute,
            running=running,
            payload=payload,
        ),
        repeatable=True,
    )


def delete_project(name: str) -> Call[Done]:
    """Delete a project: its keys and members at once, then its jobs and secrets."""
    return request("delete_project", "DELETE", "/api/v1/projects/{name}", arguments={"name": name})


def get_limits() -> Call[Limits]:
    """Read the limits of the project."""
    return request("get_limits", "GET", "/api/v1/limits", repeatable=True)


def get_retention() -> Call[Retained]:
    """Read how long the project keeps the history of new jobs that do not say."""
    return request("get_retention", "GET", "/api/v1/retention", repeatable=True)


def set_retention(
    *, age: Duration | None = None, count: int | None = None, dead: Duration | None = None
) -> Call[Retained]:
    """Set the retention of new jobs; existing jobs keep theirs."""
    return request(
        "set_retention",
        "PUT",
        "/api/v1/retention",
        body=fields(age=duration(age, "age"), count=count, dead=duration(dead, "dead")),
        repeatable=True,
    )


def list_secrets() -> Call[Items[Secret]]:
    """List the names and versions of secrets; values are never shown."""
    return request("list_secrets", "GET", "/api/v1/secrets", repeatable=True)


def set_secret(
    name: str, value: str | None = None, *, hosts: Sequence[str] | None = None
) -> Call[Secret]:
    """Add a secret, or change its value, the hosts that it may be sent to, or both."""
    return request(
        "set_secret",
        "PUT",
        "/api/v1/secrets/{name}",
        arguments={"name": name},
        body=fields(value=value, hosts=texts(hosts)),
        repeatable=True,
    )


def delete_secret(name: str) -> Call[Done]:
    """Delete a secret; attempts that use it fail from now on."""
    return request("delete_secret", "DELETE", "/api/v1/secrets/{name}", arguments={"name": name})


def list_audit(*, cursor: str | None = None, limit: int | None = None) -> Call[Page[Entry]]:
    """List the project's audit entries, newest first."""
    return request(
        "list_audit",
        "GET",
        "/api/v1/audit",
        query=fields(cursor=cursor, limit=limit),
        repeatable=True,
    )


def verify_audit() -> Call[Verified]:
    """Check the project's whole audit log for entries that were changed, removed or inserted."""
    return request("verify_audit", "GET", "/api/v1/audit/verify", repeatable=True)


def list_platform_audit(
    *, cursor: str | None = None, limit: int | None = None
) -> Call[Page[Entry]]:
    """List audit entries about users, projects, queues and sessions, newest first."""
    return request(
        "list_platform_audit",
        "GET",
        "/api/v1/platform/audit",
        query=fields(cursor=cursor, limit=limit),
        repeatable=True,
    )


def verify_platform_audit() -> Call[Verified]:
    """Check the platform's whole audit log in the same way."""
    return request("verify_platform_audit", "GET", "/api/v1/platform/audit/verify", repeatable=True)


def rewrap_secrets(*, idempotency_key: str | None = None) -> Call[Rewrapped]:
    """Encrypt every secret and signing key under the current server key."""
    return request(
        "rewrap_secrets", "POST", "/api/v1/platform/rewrap", idempotency_key=idempotency_key
    )


def list_callbacks() -> Call[Items[Callback]]:
    """List the callbacks of the project with their events."""
    return request("list_callbacks", "GET", "/api/v1/callbacks", repeatable=True)


def create_callback(
    url: str, events: Sequence[str], *, job: str | None = None
) -> Call[NewCallback]:
    """Send events of one job or of all to a URL; the signing key is shown once, here."""
    return request(
        "create_callback",
        "POST",
        "/api/v1/callbacks",
        body=fields(url=url, events=texts(events), job=job),
    )


def delete_callback(id: str) -> Call[Done]:
    """Stop sending events to a callback, and delete it."""
    return request("delete_callback", "DELETE", "/api/v1/callbacks/{id}", arguments={"id": id})


def get_session() -> Call[Me]:
    """Read the caller's name, project and permissions."""
    return request("get_session", "GET", "/api/v1/session", repeatable=True)


def get_jwks() -> Call[Jwks]:
    """Read the public keys that tokens are verified with."""
    return request("get_jwks", "GET", "/api/v1/jwks", repeatable=True)


def health() -> Call[Probe]:
    """Whether this process works, and the level of what all projects share."""
    return request("health", "GET", "/health", repeatable=True)


def ready() -> Call[Probe]:
    """Whether this process should receive requests; the same as /health."""
    return request("ready", "GET", "/readyz", repeatable=True)


def alive() -> Call[Health]:
    """Whether this process answers at all; if not, restart it."""
    return request("alive", "GET", "/healthz", repeatable=True)


def health_details() -> Call[HealthDetails]:
    """Everything that was checked, with remedies; hosts and errors only for platform admins."""
    return request("health_details", "GET", "/health/detailed", repeatable=True)
