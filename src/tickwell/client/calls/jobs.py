"""Jobs: add, read, list, change, delete, run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from tickwell.client.call import (
    Call,
    Instant,
    delete,
    duration,
    edit,
    fields,
    get,
    instant,
    known,
    post,
)
from tickwell.client.calls.executions import Shown
from tickwell.client.results.executions import Backfilled, Execution, Slots
from tickwell.client.results.jobs import BatchDone, Definition, Job, JobChanged, Version
from tickwell.client.results.page import Items, Page
from tickwell.domain.trigger.duration import Duration

#: A literal document is checked by its type; what was read from a file is any mapping.
Given = Definition | Mapping[str, Any]


def create_job(definition: Given, *, idempotency_key: str | None = None) -> Call[Job]:
    """Add a job. One with a `dedupe_key` that is known is answered, and not added."""
    return post("jobs", body=definition, key=idempotency_key)


def create_jobs(
    definitions: Sequence[Given], *, idempotency_key: str | None = None
) -> Call[BatchDone]:
    """Add up to 1,000 jobs, all or none."""
    return post("jobs", "batch", body={"jobs": list(definitions)}, key=idempotency_key)


def list_jobs(
    *,
    state: Sequence[str] = (),
    queue: str | None = None,
    tag: str | None = None,
    app: str | None = None,
    search: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[Page[Job]]:
    """Jobs by name, a page of them."""
    return get(
        *("jobs",),
        state=state,
        queue=queue,
        tag=tag,
        app=app,
        search=search,
        limit=limit,
        cursor=cursor,
    )


def get_job(key: str) -> Call[Job]:
    """One job, by its name or id."""
    return get("jobs", key)


def replace_job(key: str, definition: Given, *, version: int | None) -> Call[JobChanged]:
    """Put another definition in its place; `version` is the one that was read, None is any."""
    return edit("PUT", "jobs", key, body=definition, version=version)


def patch_job(key: str, patch: Mapping[str, Any], *, version: int | None) -> Call[JobChanged]:
    """Change some fields; None gives a field its default back."""
    return edit("PATCH", "jobs", key, body=patch, version=version)


def delete_job(key: str, *, version: int | None = None) -> Call[JobChanged]:
    """Take a job away; its history stays until retention ends."""
    return delete("jobs", key, version=version)


def pause_job(
    key: str,
    *,
    note: str | None = None,
    until: Instant | None = None,
    idempotency_key: str | None = None,
) -> Call[JobChanged]:
    """Stop firing, for good or until an instant."""
    body = fields(note=note, until=instant(until, "until"))
    return post("jobs", key, "pause", body=body, key=idempotency_key)


def resume_job(key: str, *, idempotency_key: str | None = None) -> Call[JobChanged]:
    """Fire again from now on."""
    return post("jobs", key, "resume", key=idempotency_key)


def trigger_job(
    key: str,
    payload: Any = None,
    *,
    at: Instant | None = None,
    in_: Duration | None = None,
    idempotency_key: str | None = None,
) -> Call[Execution]:
    """Run a job now, at an instant, or after a while; the same key again is the same run."""
    body = fields(payload=payload, at=instant(at, "at"), in_=duration(in_, "in_"))
    return post("jobs", key, "trigger", body=body, key=idempotency_key)


def backfill_job(
    key: str,
    since: Instant,
    until: Instant,
    *,
    force: bool = False,
    dry_run: bool = False,
    idempotency_key: str | None = None,
) -> Call[Backfilled]:
    """Run the past fire times of a range that have not run; `next` is where to go on.

    `dry_run` only counts them.
    """
    body = fields(
        since=instant(since, "since"),
        until=instant(until, "until"),
        force=force,
        dry_run=dry_run,
    )
    return post("jobs", key, "backfill", body=body, key=idempotency_key)


def next_fires(key: str, *, count: int | None = None) -> Call[Items[str]]:
    """The next fire times, as far as they are known."""
    return get("jobs", key, "next", count=count)


def job_slots(key: str, since: Instant, until: Instant) -> Call[Slots]:
    """Every nominal fire time of a range with its answer."""
    return get(
        *("jobs", key, "slots"), since=instant(since, "since"), until=instant(until, "until")
    )


def job_versions(key: str, *, cursor: str | None = None) -> Call[Page[Version]]:
    """The definitions that the job had, newest first: all of them, unless they are very large."""
    return get("jobs", key, "versions", cursor=cursor)


def job_history(key: str, **shown: Unpack[Shown]) -> Call[Page[Execution]]:
    """The executions of a job, newest first, a page of them."""
    return get("jobs", key, "history", **known(shown, Shown))
