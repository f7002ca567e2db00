"""Promoting: what waits gets its permits, or is answered at its instant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from tickwell.domain.execution import Reason
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.codec import QUEUED, SKIPPED, WAITING
from tickwell.stores.sql.server.flow import Flow
from tickwell.stores.sql.server.jobs import definitions
from tickwell.stores.sql.server.session import Session

#: Executions and their jobs.
Found = Sequence[tuple[Any, ...]]


async def expire(session: Session, cache: JobCache, found: Found, now: int) -> int:
    """Skip what is past its time to live, inside a transaction; how many are."""
    flow = Flow(session, cache)
    await flow.locks.jobs_with_gates([job for _, job in found])
    ended = 0
    readable = await _readable(flow, found, now)
    for id, job in found:
        row = await flow.gates.load(id) if job in readable else None
        if row is not None and row.expires_at is not None and row.expires_at <= now:
            await flow.end(row, SKIPPED, Reason.TTL, now)
            ended += 1
    await flow.close()
    return ended


async def admit(
    session: Session, cache: JobCache, found: Found, free: list[str], end: tuple[int, int]
) -> Counter[int]:
    """Let what needs a gate meet it, inside a transaction; in which states all are then."""
    now, horizon = end
    flow = Flow(session, cache)
    await flow.locks.jobs_with_gates([job for _, job in found])
    # Another planner may have been faster; under the locks of their jobs nobody is any more.
    readable = await _readable(flow, found, now)
    asked = [id for id, job in found if job in readable]
    waiting = [id for (id,) in await session.rows("still_waiting", asked, now + horizon)]
    for id in waiting:
        row = await flow.gates.load(id)
        # One that is looked at earlier may have cancelled it, or passed its permit on to it.
        if row is not None and row.state == WAITING:
            await flow.admit(row, now, horizon)
    await flow.close()
    states = Counter(state for _, state in await session.rows("pending_states", waiting))
    ended = dict(await session.rows("ended_states", [*waiting, *free]))
    states.update(ended.values())
    states[QUEUED] += sum(id not in ended for id in free)
    return states


async def _readable(flow: Flow, found: Found, now: int) -> set[str]:
    """Of the jobs of these, which this process can read; the others are left out from now on."""
    heads = flow.locks.heads
    wanted = [(job, heads[job].version) for job in {job for _, job in found} if job in heads]
    return set(await definitions(flow.session, flow.jobs.cache, wanted, now))
