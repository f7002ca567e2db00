"""Jobs."""

from __future__ import annotations

from typing import Any, Literal, Required, TypedDict


class Definition(TypedDict, total=False):
    """A job to be added, or put in the place of another; see docs/api.md for its fields."""

    name: Required[str]
    trigger: Required[dict[str, Any]]
    target: Required[dict[str, Any]]
    queue: str
    payload: Any
    priority: int
    retry: dict[str, Any]
    misfire: dict[str, Any]
    overlap: Literal["skip", "queue_one", "queue_all", "cancel_running", "allow"]
    concurrency: dict[str, Any] | None
    delivery: Literal["at_least_once", "at_most_once"]
    timeout: dict[str, Any]
    ttl: str | int | None
    pause_after: int | None
    auto_remove: bool
    dedupe_key: str | None
    retention: dict[str, Any]
    description: str
    tags: list[str]


class Pause(TypedDict):
    """Who paused a job, why, since when and until when."""

    by: str
    why: str
    since: str
    until: str | None


class Cursor(TypedDict):
    """What moves in a job."""

    after: str
    runs: int
    failures: int


class Job(Definition, total=False):
    """A job with its cursor; policies that have their default are left out."""

    id: Required[str]
    project: Required[str]
    version: Required[int]
    saved_at: Required[str]
    created_at: Required[str]
    state: Required[Literal["active", "paused", "finished", "deleted"]]
    next_fire_time: Required[str | None]
    pause: Required[Pause | None]
    cursor: Required[Cursor]
    app: str | None
    declared: str | None
    edited: bool | None
    warnings: list[str]


class JobChanged(TypedDict):
    """A job after a change, and what the change took back."""

    job: Job
    withdrawn: int
    cancelling: int


class BatchDone(TypedDict):
    """The jobs in the order given; `new` says which were added."""

    items: list[Job]
    new: list[bool]
    warnings: list[str]


class Version(TypedDict):
    """A definition that the job had."""

    version: int
    saved_at: str
    definition: dict[str, Any]


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
