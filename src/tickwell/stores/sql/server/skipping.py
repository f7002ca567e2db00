"""Recording range skips."""

from __future__ import annotations

from collections.abc import Sequence

from tickwell.domain.execution import RangeSkip
from tickwell.domain.job import Job
from tickwell.domain.skips import uncovered
from tickwell.stores.sql.codec import skip_of, skip_row
from tickwell.stores.sql.server.session import Session


async def record_skips(
    session: Session, job: Job, skips: Sequence[RangeSkip], age: int
) -> list[RangeSkip]:
    """Record what a job, which is locked, passed over by this definition; what of it was new."""
    found = []
    for skip in skips:
        known = await session.rows("list_skips", job.id, skip.last + 1, skip.first)
        new = uncovered(job, skip, [skip_of(job.id, row) for row in known])
        if new is not None:
            found.append(new)
    await session.many("insert_skips", [skip_row(job.id, new, age) for new in found])
    return found
