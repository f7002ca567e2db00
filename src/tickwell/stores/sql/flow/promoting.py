"""Promoting: what waits gets its permits, or is answered at its instant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from tickwell.domain.execution import Reason
from tickwell.ports.records import Ended, Promoted
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.flow.definitions import definitions
from tickwell.stores.sql.flow.flow import Flow
from tickwell.stores.sql.parts import Database
from tickwell.stores.sql.rows.codec import BLOCKED, QUEUED, SKIPPED, WAITING
from tickwell.stores.sql.session import Session

#: Executions and their jobs.
Found = Sequence[tuple[Any, ...]]


#: Queues what needs no gate: the end of the horizon, jobs that are left out, and the limit to all
#: that was looked at: id, job, whether it was queued.
PromoteFree = Callable[[Database, int, list[str], int], Awaitable[list[tuple[str, str, bool]]]]


async def promote(
    database: Database,
    cache: JobCache,
    promote_free: PromoteFree,
    span: tuple[int, int],
    limit: int,
) -> Promoted:
    """Skip what has expired, queue what needs no gate, and let the rest meet its gates."""
    now, horizon = span
    left_out = cache.unreadable.keys(now)
    found = await database.read_one(lambda session: session.rows("expired", now, left_out, limit))
    expired, skipped = [tuple(row) for row in found], 0
    if expired:
        skipped = await database.write(lambda session: expire(session, cache, expired, now))
    rows = await promote_free(database, now + horizon, left_out, limit)
    free = [id for id, _, is_free in rows if is_free]
    gated = [(id, job) for id, job, is_free in rows if not is_free]
    states, ended = Counter({QUEUED: len(free)}), Ended()
    if gated:
        states, ended = await database.write(
            lambda session: admit(session, cache, gated, free, span)
        )
    return Promoted(
        queued=states[QUEUED],
        blocked=states[BLOCKED],
        skipped=states[SKIPPED] + skipped,
        expired=skipped,
        ended=ended,
        more=limit in {len(expired), len(rows)},
    )


async def expire(session: Session, cache: JobCache, found: Found, now: int) -> int:
    """Skip what is past its time to live, inside a transaction; how many are."""
    flow = Flow(session, cache)
    await flow.locks.jobs_with_gates([job for _, job in found])
    ended = 0
    readable = await _readable(flow, found, now)
    for id, job in found:
        row = await flow.gates.load(id) if job in readable else None
        if row is not None and row.expires_at is not None and row.expires_at <= now:
            await flow.end(row, SKIPPED, Reason.EXPIRED, now)
            ended += 1
    await flow.close()
    return ended


async def admit(
    session: Session, cache: JobCache, found: Found, free: list[str], end: tuple[int, int]
) -> tuple[Counter[int], Ended]:
    """Let what needs a gate meet it, inside a transaction; in which states all are then.

    And what ended.
    """
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
    return states, flow.ended_pending


async def _readable(flow: Flow, found: Found, now: int) -> set[str]:
    """Of the jobs of these, which this process can read; the others are left out from now on."""
    heads = flow.locks.heads
    wanted = [(job, heads[job].version) for job in {job for _, job in found} if job in heads]
    return set(await definitions(flow.session, flow.jobs.cache, wanted, now))
