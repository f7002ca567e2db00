"""Pruning in short transactions: history past its retention, and deleted jobs without any."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence

from tickwell.domain.policy import DAY
from tickwell.domain.rate import long_past
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.flow.definitions import definitions
from tickwell.stores.sql.flow.flow import Flow
from tickwell.stores.sql.parts import D, Part
from tickwell.stores.sql.rows.codec import FIRST_ID, clean, ids_among
from tickwell.stores.sql.rows.documents import old_span, unneeded
from tickwell.stores.sql.session import Session

#: Jobs that are looked at in one transaction, which holds them meanwhile.
JOBS = 200
#: When a job is to be looked at, and its id: the order in which one call looks at them.
ScanPosition = tuple[int, str]
FIRST: ScanPosition = (-1, FIRST_ID)


class SqlPruning(Part[D], ABC):
    """Deletes what is past its retention, in short transactions."""

    #: Jobs that are looked at in one transaction.
    jobs_at_once = JOBS

    async def prune(self, now: int, limit: int) -> int:
        database, pruned = self.database, 0
        position: ScanPosition | None = FIRST
        while pruned < limit and position is not None:
            more, position = await self._prune_some(now, limit - pruned, position)
            pruned += more
        one = database.write_one
        pruned += await one(lambda session: session.run("old_skips", now, limit))
        pruned += await database.write(
            lambda session: drop_versions(session, self.cache, now, limit)
        )
        pruned += await one(lambda session: session.run("expired_records", now, limit))
        pruned += await one(lambda session: session.run("prune_workers", now - DAY, limit))
        gates = await self.drop_gates(limit)
        rates = await one(lambda session: session.run("prune_rates", long_past(now), limit))
        # Fewer than the limit are the last ones. They do not count: keys in use come back at once.
        pruned += sum(gone for gone in (gates, rates) if gone >= limit)
        return pruned + await database.write(lambda session: drop_jobs(session, limit))

    async def _prune_some(
        self, now: int, limit: int, position: ScanPosition
    ) -> tuple[int, ScanPosition | None]:
        return await self.database.write(
            lambda session: prune_history(
                session, self.cache, (now, limit), position, self.jobs_at_once
            )
        )

    @abstractmethod
    async def drop_gates(self, limit: int) -> int:
        """Delete gates in which no permit is held, except those about to be entered."""


async def prune_history(
    session: Session,
    cache: JobCache,
    bounds: tuple[int, int],
    position: ScanPosition,
    most_jobs: int,
) -> tuple[int, ScanPosition | None]:
    """Delete what is past retention of a few jobs; how much, and where to go on."""
    now, limit = bounds
    rows = await session.rows("jobs_to_prune", now, most_jobs, *position)
    jobs = await definitions(session, cache, [(row[0], row[1]) for row in rows], now)
    pruned, done = 0, []
    for id, _, keep, _ in rows:
        if pruned >= limit:
            break
        if id not in jobs:
            continue
        retention = jobs[id].retention
        ages = retention.dead, retention.age
        old = [one for (one,) in await session.rows("past_age", id, now, *ages, limit - pruned)]
        await _drop_executions(session, cache, old)
        pruned += len(old)
        over = await session.rows("past_count", id, max(limit - pruned, 0), keep)
        await _drop_executions(session, cache, [one for (one,) in over])
        pruned += len(over)
        if pruned < limit:
            done.append((id, *ages))
    await session.many("look_again", done, now)
    return pruned, (rows[-1][3], rows[-1][0]) if len(rows) == most_jobs else None


async def purge_dead(
    session: Session, cache: JobCache, project: str, ids: Sequence[str]
) -> list[str]:
    """Delete dead executions at somebody's wish; which."""
    asked = ids_among(ids), clean(project)
    found = await session.rows("dead_to_purge", *asked)
    await Flow(session, cache).locks.jobs({job for _, job in found})
    # Under the locks of their jobs; one that was revived meanwhile is dead no more.
    dead = {id for id, _ in await session.rows("dead_to_purge", *asked)}
    gone = [id for id in asked[0] if id in dead]
    await _drop_executions(session, cache, gone)
    return gone


async def _drop_executions(session: Session, cache: JobCache, ids: list[str]) -> None:
    if not ids:
        return
    made: Counter[str] = Counter()
    flow = Flow(session, cache)
    for job, project, state, count in await session.rows("prune_executions", ids):
        made[job] += count
        flow.ended[project, state] -= count
    await session.many("uncount_made", [(count, job) for job, count in made.items()])
    await flow.close()


async def drop_versions(session: Session, cache: JobCache, now: int, limit: int) -> int:
    """Forget former definitions that are many, and older than the history; how many."""
    edited = [tuple(row) for row in await session.rows("edited_jobs")]
    jobs = await definitions(session, cache, edited, now)
    dropped = 0
    for id, version in edited:
        if id not in jobs or dropped >= limit:
            continue
        project, age = jobs[id].project, jobs[id].retention.age
        span = old_span(id, version)
        rows = await session.rows("old_versions", project, *span, limit - dropped + 1)
        gone = unneeded(rows, now - age)
        if gone:
            await session.run("drop_versions", project, gone)
        dropped += len(gone)
    return dropped


async def drop_jobs(session: Session, limit: int) -> int:
    """Forget deleted jobs without history, with all that belongs to them; how many."""
    gone = [id for (id,) in await session.rows("gone_jobs", limit)]
    if gone:
        await session.run("prune_skips", gone)
        await session.run("prune_cursors", gone)
        # Last, since SQLite finds the others by it.
        versions = [tuple(row) for row in await session.rows("prune_jobs", gone)]
        await session.many("prune_versions", versions)
    return len(gone)
