"""Executions and dead letters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict, Unpack

from tickwell.client.call import KEEP, Call, Instant, fields, get, known, post
from tickwell.client.results.executions import DeadGroups, Execution, OutputPage, Purged, Revival
from tickwell.client.results.page import Page


class Shown(TypedDict, total=False):
    """Which executions, and which page of them."""

    state: Sequence[str]
    kind: str | None
    since: Instant | None
    until: Instant | None
    limit: int | None
    cursor: str | None


class DeadLetters(TypedDict, total=False):
    """Which dead letters; nothing given: all."""

    job: str | None
    queue: str | None
    since: Instant | None
    until: Instant | None
    signature: str | None
    search: str | None


def list_executions(
    *, job: str | None = None, queue: str | None = None, **shown: Unpack[Shown]
) -> Call[Page[Execution]]:
    """Executions, newest first, a page of them."""
    return get("executions", job=job, queue=queue, **known(shown, Shown))


def get_execution(id: str) -> Call[Execution]:
    """One execution with its attempts."""
    return get("executions", id)


def get_output(id: str, *, attempt: int = 1, line: int = 0) -> Call[OutputPage]:
    """Lines that its attempts printed and logged, from one on, also while they run."""
    return get("executions", id, "output", attempt=attempt, line=line)


def cancel_execution(id: str, *, idempotency_key: str | None = None) -> Call[Execution]:
    """End it if it is pending; ask its worker to stop if it is running."""
    return post("executions", id, "cancel", key=idempotency_key)


def revive_execution(
    id: str, payload: Any = KEEP, *, idempotency_key: str | None = None
) -> Call[Execution]:
    """A dead one runs again under its id; with another payload, as a new execution."""
    body = {} if payload is KEEP else {"payload": payload}
    return post("executions", id, "revive", body=body, key=idempotency_key)


def dead_letter_groups(**where: Unpack[DeadLetters]) -> Call[DeadGroups]:
    """What went wrong, the largest group first."""
    return get("dead-letters", "groups", **known(where, DeadLetters))


def revive_dead_letters(
    *,
    rate: float | None = None,
    payload: Any = KEEP,
    idempotency_key: str | None = None,
    **where: Unpack[DeadLetters],
) -> Call[Revival]:
    """Begin to revive all that match, so many a second; `get_revival` says how far it is.

    With another payload each is repeated as a new execution, and the dead one stays.
    """
    body = fields(filter=known(where, DeadLetters), rate=rate)
    body |= {} if payload is KEEP else {"payload": payload}
    return post("dead-letters", "revive", body=body, key=idempotency_key)


def purge_dead_letters(
    *, idempotency_key: str | None = None, **where: Unpack[DeadLetters]
) -> Call[Purged]:
    """Delete those that match for good, ten thousand at a time; nothing given: all."""
    body = {"filter": known(where, DeadLetters)}
    return post("dead-letters", "purge", body=body, key=idempotency_key)


def get_revival(id: str) -> Call[Revival]:
    """How far a revival is."""
    return get("dead-letters", "revivals", id)
