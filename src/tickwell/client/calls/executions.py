"""Executions and dead letters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tickwell.client.call import KEEP, Call, Instant, fields, get, instant, post
from tickwell.client.results.executions import DeadGroups, Execution, Purged, Revival
from tickwell.client.results.page import Page


def list_executions(
    *,
    job: str | None = None,
    state: Sequence[str] = (),
    kind: str | None = None,
    queue: str | None = None,
    since: Instant | None = None,
    until: Instant | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[Page[Execution]]:
    """Executions, newest first, a page of them."""
    return get(
        *("executions",),
        job=job,
        state=state,
        kind=kind,
        queue=queue,
        since=instant(since, "since"),
        until=instant(until, "until"),
        limit=limit,
        cursor=cursor,
    )


def get_execution(id: str) -> Call[Execution]:
    """One execution with its attempts."""
    return get("executions", id)


def cancel_execution(id: str, *, idempotency_key: str | None = None) -> Call[Execution]:
    """End it if it is pending; ask its worker to stop if it is running."""
    return post("executions", id, "cancel", key=idempotency_key)


def revive_execution(
    id: str, payload: Any = KEEP, *, idempotency_key: str | None = None
) -> Call[Execution]:
    """A dead one runs again under its id; with another payload, as a new execution."""
    body = {} if payload is KEEP else {"payload": payload}
    return post("executions", id, "revive", body=body, key=idempotency_key)


def dead_letter_groups(
    *,
    job: str | None = None,
    queue: str | None = None,
    since: Instant | None = None,
    until: Instant | None = None,
    signature: str | None = None,
    search: str | None = None,
) -> Call[DeadGroups]:
    """What went wrong, the largest group first."""
    return get(
        "dead-letters",
        "groups",
        **_dead(since, until, job=job, queue=queue, signature=signature, search=search),
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
    """Begin to revive all that match, so many a second; `get_revival` says how far it is.

    With another payload each is repeated as a new execution, and the dead one stays.
    """
    body = fields(
        filter=_dead(since, until, job=job, queue=queue, signature=signature, search=search),
        rate=rate,
    )
    body |= {} if payload is KEEP else {"payload": payload}
    return post("dead-letters", "revive", body=body, key=idempotency_key)


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
    """Delete those that match for good, ten thousand at a time; nothing given: all."""
    body = {"filter": _dead(since, until, job=job, queue=queue, signature=signature, search=search)}
    return post("dead-letters", "purge", body=body, key=idempotency_key)


def get_revival(id: str) -> Call[Revival]:
    """How far a revival is."""
    return get("dead-letters", "revivals", id)


def _dead(since: Instant | None, until: Instant | None, **where: str | None) -> dict[str, Any]:
    return fields(since=instant(since, "since"), until=instant(until, "until"), **where)
