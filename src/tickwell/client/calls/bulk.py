"""One action on all jobs that match a filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict, Unpack

from tickwell.client.call import Call, Instant, fields, instant, known, post, texts
from tickwell.client.results.jobs import BulkDone


class Matching(TypedDict, total=False):
    """Which jobs; nothing given: all. `dry_run` only says which."""

    states: Sequence[str]
    queue: str
    tag: str
    app: str
    search: str
    dry_run: bool
    idempotency_key: str


def bulk_pause(
    *, note: str | None = None, until: Instant | None = None, **matching: Unpack[Matching]
) -> Call[BulkDone]:
    """Pause all active jobs that match."""
    return _bulk("pause", matching, note=note, until=instant(until, "until"))


def bulk_resume(**matching: Unpack[Matching]) -> Call[BulkDone]:
    """Resume all paused jobs that match."""
    return _bulk("resume", matching)


def bulk_trigger(*, payload: Any = None, **matching: Unpack[Matching]) -> Call[BulkDone]:
    """Run all jobs that match once, now."""
    return _bulk("trigger", matching, payload=payload)


def bulk_delete(**matching: Unpack[Matching]) -> Call[BulkDone]:
    """Delete all jobs that match."""
    return _bulk("delete", matching)


def _bulk(action: str, matching: Matching, **more: Any) -> Call[BulkDone]:
    where = known(matching, Matching)
    dry_run, key = where.pop("dry_run", False), where.pop("idempotency_key", None)
    if "states" in where:
        where["states"] = texts(matching["states"])
    body = fields(filter=where, dry_run=dry_run, **more)
    return post("bulk", action, body=body, key=None if key is None else str(key))
