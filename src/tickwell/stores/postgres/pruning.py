"""Pruning on PostgreSQL, which first counts what transactions of callers have recorded."""

from __future__ import annotations

import json
from collections import Counter

from tickwell.stores.postgres.database import Database
from tickwell.stores.postgres.session import Session
from tickwell.stores.sql.server.locks import Locks
from tickwell.stores.sql.server.pruning import SqlPruning


class PostgresPruning(SqlPruning[Database]):
    """Deletes what is past its retention, in short transactions."""

    async def prune(self, now: int, limit: int) -> int:
        while await self.database.write(lambda session: _count(session, limit)) >= limit:
            pass
        return await super().prune(now, limit)

    async def drop_gates(self, limit: int) -> None:
        await self.database.single(lambda session: session.run("prune_gates", limit))


async def _count(session: Session, limit: int) -> int:
    """Have jobs count executions that were recorded without their locks; how many there were."""
    notes = [json.loads(text) for (text,) in await session.rows("take_uncounted", limit)]
    made = Counter(note["job"] for note in notes)
    prune_at = {note["job"]: note["prune_at"] for note in reversed(notes)}
    locks = Locks(session)
    await locks.jobs(made)
    await session.many(
        "count_made",
        [(made[job], head.holder, prune_at[job], job) for job, head in locks.heads.items()],
    )
    return len(notes)
