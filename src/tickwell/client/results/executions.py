"""Executions, slots, dead letters."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict


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


class OutputPage(TypedDict):
    """Lines of an execution, and the attempt and the line to read on from."""

    items: list[Log]
    attempt: int
    line: int
    ended: bool


class Execution(TypedDict):
    """One occurrence of a job; attempts, progress and logs are there when it is read alone."""

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
    soft_deadline: NotRequired[str | None]
    hard_deadline: NotRequired[str | None]
    attempts: NotRequired[list[Attempt]]
    progress: NotRequired[Progress | None]
    logs: NotRequired[list[Log]]


class Backfilled(TypedDict):
    """What a backfill did, or would do: then it has no ids. `next` is where to go on."""

    ids: list[str]
    count: int
    left_alone: int
    next: str | None


class Slot(TypedDict):
    """A nominal fire time with its answer."""

    fire_time: str
    answer: str
    reason: str | None
    execution_id: str | None
    state: str | None


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


class Purged(TypedDict):
    """How many are gone, and whether there may be more of them: then ask again."""

    purged: int
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
