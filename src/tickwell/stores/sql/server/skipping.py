"""Recording range skips."""

from __future__ import annotations

from collections.abc import Sequence

from tickwell.domain.execution import RangeSkip
from tickwell.domain.job import Job
from tickwell.domain.skips import uncovered
from tickwell.stores.sql.codec import skip_of, skip_row
from tickwell.stores.sql.server.session import Session


async def new_skips(session: Session, job: Job, skips: Sequence[RangeSkip]) -> list[RangeSkip]:
    """What a job, which is locked, passed over by this definition, and no range has answered."""
    found = []
    for skip in skips:
        known = await session.rows("list_skips", job.id, skip.last + 1, skip.first)
        new = uncovered(job, skip, [skip_of(job.id, row) for row in known])
        if new is not None:
            found.append(new)
    return found


async def insert_skips(session: Session, job: Job, skips: Sequence[RangeSkip]) -> None:
    """Record them."""
    rows = [skip_row(job.id, skip, job.retention.age) for skip in skips]
    await session.many("insert_skips", rows)
