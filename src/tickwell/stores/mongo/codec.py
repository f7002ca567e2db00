"""Values as documents hold them: enumerations as small numbers, JSON as text.

Payloads and results are text because a document takes no integer beyond 64 bits.
"""

from __future__ import annotations

from typing import Any

from tickwell.domain.execution import State
from tickwell.stores.sql.rows.codec import (
    ACTIVE,
    DELETED,
    FINISHED,
    JOB_STATE_CODE,
    JOB_STATES,
    KIND_CODE,
    KINDS,
    OUTCOME_CODE,
    OUTCOMES,
    OVERLAP_CODE,
    OVERLAPS,
    PAUSED,
    REASON_CODE,
    REASONS,
    from_json,
    to_json,
)

__all__ = [
    "ACTIVE",
    "ADDING",
    "BLOCKED",
    "CANCELLED",
    "DEAD",
    "DELETED",
    "FINISHED",
    "FIRST_ENDED",
    "JOB_STATES",
    "JOB_STATE_CODE",
    "KINDS",
    "KIND_CODE",
    "OUTCOMES",
    "OUTCOME_CODE",
    "OVERLAPS",
    "OVERLAP_CODE",
    "PARKED",
    "PAUSED",
    "QUEUED",
    "REASONS",
    "REASON_CODE",
    "RUNNING",
    "SKIPPED",
    "STATES",
    "STATE_CODE",
    "SUCCEEDED",
    "WAITING",
    "clean",
    "diff",
    "from_json",
    "to_json",
]

#: A code is a member's index here. In this order a partial index can hold what is not claimable
#: yet (below 3) or has ended (from 5 on): append, never reorder.
STATES = (
    State.WAITING,
    State.BLOCKED,
    State.PARKED,
    State.QUEUED,
    State.RUNNING,
    State.SUCCEEDED,
    State.DEAD,
    State.CANCELLED,
    State.SKIPPED,
)
STATE_CODE = {state: code for code, state in enumerate(STATES)}
WAITING, BLOCKED, PARKED, QUEUED, RUNNING, SUCCEEDED, DEAD, CANCELLED, SKIPPED = range(9)
FIRST_ENDED = SUCCEEDED
#: The state of a job that is being added together with others, and is hidden until all are added.
ADDING = -1


def clean(text: str | None) -> str | None:
    """Text without lone surrogates, which would fail the batch that it is in."""
    if text is None or text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")


def diff(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """The update that turns one document into the other; empty if they are equal."""
    changed = {
        name: value for name, value in after.items() if name not in before or before[name] != value
    }
    gone = {name: "" for name in before if name not in after}
    update: dict[str, Any] = {}
    if changed:
        update["$set"] = changed
    if gone:
        update["$unset"] = gone
    return update
