"""The attempt under way in this task or thread: log lines and spans look it up.

Nothing but a context variable is set for an attempt; its fields are computed for a line that is
written.
"""

from __future__ import annotations

from contextvars import ContextVar
from logging import LogRecord
from typing import Any

from tickwell.clock import to_datetime
from tickwell.domain.execution import Claim, NewExecution
from tickwell.ids import trace_id
from tickwell.log.events import EXECUTION

#: The span of the attempt, if spans are recorded, as the header `traceparent` has it.
CURRENT_SPAN: ContextVar[str | None] = ContextVar("tickwell_span", default=None)
CURRENT_CLAIM: ContextVar[Claim | None] = ContextVar("tickwell_claim", default=None)


def claim_fields(claim: Claim) -> dict[str, Any]:
    """What a log line of an attempt says about it."""
    job = claim.job
    return {
        "job": job.name,
        "execution": claim.id,
        "attempt": claim.attempt,
        "fire_time": instant(claim.fire_time),
        "project": job.project,
        "queue": job.queue,
        "worker": claim.worker,
        "trace_id": trace_id(claim.id),
    }


class _Marked(dict[str, Any]):
    """Attributes of a log record. `extra` of the line may have the same names, and wins.

    The standard library refuses an `extra` whose name is there: a handler that logs a `job` of
    its own would raise.
    """

    def __contains__(self, name: object) -> bool:
        return name not in _SOFT and super().__contains__(name)


_SOFT = frozenset(EXECUTION)


def mark(record: LogRecord, claim: Claim) -> None:
    """Let a log record say which attempt it belongs to."""
    record.__dict__ = _Marked(record.__dict__)
    record.__dict__.update(claim_fields(claim))


def new_fields(new: NewExecution) -> dict[str, Any]:
    """The same of an execution that has no attempt yet."""
    job = new.job
    return {
        "job": job.name,
        "execution": new.id,
        "fire_time": instant(new.fire_time),
        "project": job.project,
        "queue": job.queue,
        "trace_id": trace_id(new.id),
    }


def instant(millis: int) -> str:
    """RFC 3339, in UTC, with milliseconds."""
    return to_datetime(millis).isoformat(timespec="milliseconds").replace("+00:00", "Z")
