"""Executions, slots, dead letters, as documents have them."""

from __future__ import annotations

from typing import Literal

from tickwell.domain.payload import KEEP
from tickwell.services.operations.schema import Duration, Input, Instant, Json, Output, field


class TriggerBody(Input):
    """How a run is asked for."""

    payload: Json = None
    at: Instant | None = None
    in_: Duration | None = field(None, alias="in", example="10m")
    unless: str | None = field(
        None, example="pending", description='"pending", "running", "never", or a duration.'
    )
    unique_key: str | None = field(None, min_length=1, max_length=255)
    debounce: Duration | None = None
    debounce_max: Duration | None = None


class BackfillBody(Input):
    """Which fire times are to run after all."""

    since: Instant
    until: Instant
    force: bool = False
    dry_run: bool = False


class Backfilled(Output):
    """What a backfill did, or would do: then it has no ids. `next` is where to go on."""

    ids: list[str]
    count: int
    left_alone: int
    next: Instant | None


class Response(Output):
    """What a webhook was answered with, as it is kept: capped, and without credentials."""

    status: int
    headers: dict[str, str] = field({})
    body: str
    bytes: int
    #: There was more than is read.
    cut: bool = False


class Attempt(Output):
    """One try at an execution."""

    number: int
    outcome: str
    worker: str | None
    started_at: Instant | None
    ended_at: Instant
    error: str | None
    #: Of a webhook that was answered.
    response: Response | None


class Progress(Output):
    """How far an attempt under way is, by its own account: from 0 to 1."""

    attempt: int
    fraction: float
    message: str
    at: Instant


class Step(Output):
    """What an execution has done and does not do again; or its checkpoint, without a name."""

    name: str
    #: The attempt that did it.
    attempt: int
    at: Instant
    #: What it returned.
    value: Json


class Wait(Output):
    """A question of an execution to somebody outside, and what came of it."""

    name: str
    state: Literal["open", "answered", "expired"]
    expires_at: Instant
    ended_at: Instant | None
    answer: Json
    by: str | None


class Log(Output):
    """The last lines that an attempt printed and logged."""

    attempt: int
    #: The number of the first of these lines, counted from 0.
    first: int
    lines: list[str]


class OutputPage(Output):
    """Lines of an execution from one on."""

    items: list[Log]
    #: Where to read on.
    attempt: int
    line: int
    #: The execution has ended, and there is nothing more to read.
    ended: bool


class Execution(Output):
    """One occurrence of a job; from `attempts` on there when it is read alone."""

    id: str
    project: str
    job_id: str
    job_name: str | None
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
    #: Read alone, what is sent; in a list what it was given instead of the job's.
    payload: Json
    key: str | None
    attempt: int
    charged: int
    lost: int
    returned: int
    worker: str | None
    deadline: Instant | None
    cancel_requested: bool
    error: str | None
    result: Json
    revived_from: str | None
    #: In the answer to a request: whether that made it, or found it.
    is_new: bool | None = None
    #: When the attempt under way is asked to stop, and when it ends regardless.
    soft_deadline: Instant | None = None
    hard_deadline: Instant | None = None
    attempts: list[Attempt] | None = None
    progress: Progress | None = None
    logs: list[Log] | None = None
    steps: list[Step] | None = None
    checkpoint: Step | None = None
    waits: list[Wait] | None = None


class ExecutionPage(Output):
    """A part of a list."""

    items: list[Execution]
    next_cursor: str | None


class AnswerBody(Input):
    """What is answered, by its name, and how."""

    name: str
    answer: Json = None


class SignedAnswer(Input):
    """The answer of somebody who has the address."""

    answer: Json = None


class Answered(Output):
    """The answer was taken."""

    execution: str
    name: str


class ReviveBody(Input):
    """With another payload it becomes a new execution that names the dead one."""

    payload: Json = field(KEEP, keeps_null=True)


class Slot(Output):
    """A nominal fire time with its answer."""

    fire_time: Instant
    answer: str
    reason: str | None
    execution_id: str | None
    state: str | None
    #: The person who skipped it, and why.
    by: str | None
    why: str | None


class Completeness(Output):
    """The slots that were due, counted."""

    due: int
    executed: int
    skipped_by_reason: dict[str, int]
    pruned: int
    unanswered: int
    next: Instant | None


class Slots(Output):
    """The slots of a range; `next` is where to read on."""

    items: list[Slot]
    next: Instant | None
    completeness: Completeness
