"""Promoting: what waits gets its permits, or is answered at its instant."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from tickwell.clock import NEVER
from tickwell.domain.execution import Reason
from tickwell.ports.records import Promoted
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.codec import ALLOW, BLOCKED, QUEUED, SKIPPED, WAITING
from tickwell.stores.sqlite.flow import Flow
from tickwell.stores.sqlite.session import Session


def promote(session: Session, cache: JobCache, now: int, horizon: int, limit: int) -> Promoted:
    """One round of promotion, inside a transaction."""
    flow = Flow(session, cache)
    left_out = json.dumps(cache.unreadable.keys(now))
    expired = session.rows("expired", now, left_out, limit)
    ended = 0
    for key, job in expired:
        row = flow.gates.load(key) if flow.jobs.can_be_read(job, now) else None
        if row is not None:
            flow.end(row, SKIPPED, Reason.TTL, now)
            ended += 1
    rows = session.rows("to_promote", now + horizon, NEVER, left_out, limit)
    slow = _quickly(session, rows, now, horizon)
    for key, job in slow:
        row = flow.gates.load(key) if flow.jobs.can_be_read(job, now) else None
        # One that is looked at earlier may have cancelled it, or passed its permit on to it.
        if row is not None and row.state == WAITING:
            flow.admit(row, now, horizon)
    states = _states(session, [row[0] for row in rows])
    flow.close()
    return Promoted(
        queued=states[QUEUED],
        blocked=states[BLOCKED],
        skipped=states[SKIPPED] + ended,
        expired=ended,
        more=limit in {len(expired), len(rows)},
    )


def _quickly(session: Session, rows: list[Any], now: int, horizon: int) -> list[tuple[int, int]]:
    """Promote the executions of all jobs that need nothing else; the others, with their jobs."""
    rivals = Counter(row[1] for row in rows)
    slow_jobs = {row[1] for row in rows if _is_slow(row, rivals, now, horizon)}
    holders: dict[int, int] = {}
    queued, waiting, slow = [], [], []
    for key, job, _, overlap, _, holds_job, _, holder in rows:
        if job in slow_jobs:
            slow.append((key, job))
        elif overlap == ALLOW or holds_job:
            queued.append(key)
        elif holder is None and job not in holders:
            holders[job] = key
            queued.append(key)
        else:
            waiting.append(key)
    if queued:
        session.run("promote", json.dumps(queued))
    if waiting:
        session.run("wait_for_job", horizon, json.dumps(waiting))
    session.many("take_holders", [(key, job) for job, key in holders.items()])
    return slow


def _is_slow(row: tuple[Any, ...], rivals: Counter[int], now: int, horizon: int) -> bool:
    """Whether it passes a concurrency gate, is overlapped at its instant, or not due after all."""
    _, job, run_at, overlap, gate, holds_job, holds_key, holder = row
    if (gate is not None and not holds_key) or run_at > now + horizon:
        return True
    if overlap == ALLOW or holds_job or run_at > now:
        return False
    return holder is not None or rivals[job] > 1


def _states(session: Session, keys: list[int]) -> Counter[int]:
    asked = json.dumps(keys)
    states = Counter(state for _, state in session.rows("pending_states", asked))
    if states.total() < len(keys):
        states.update(state for (state,) in session.rows("ended_states", asked))
    return states
