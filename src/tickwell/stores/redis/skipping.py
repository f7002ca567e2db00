"""Range skips, as they are on record."""

from __future__ import annotations

from collections.abc import Sequence

from tickwell.domain.execution import RangeSkip
from tickwell.domain.job import Job
from tickwell.domain.skips import uncovered
from tickwell.stores.redis.base import RedisBase
from tickwell.stores.redis.rows import dumps, skip_of


async def touching(
    store: RedisBase, ranges: Sequence[tuple[str, int, int]]
) -> list[list[RangeSkip]]:
    """For each range, a job with a first and a last instant, the skips on record that touch it."""
    if not ranges:
        return []
    found = await store.answer("list_skips", dumps(ranges))
    return [
        [skip_of(job, row) for row in rows] for (job, _, _), rows in zip(ranges, found, strict=True)
    ]


async def unrecorded(
    store: RedisBase, passed: Sequence[tuple[Job, Sequence[RangeSkip]]]
) -> list[list[RangeSkip]]:
    """What of the ranges that each job passed over is on record by no other range.

    Whoever writes one moves the job's cursor, so this holds for as long as that stands still.
    """
    ranges = [(job.id, skip.first, skip.last) for job, skips in passed for skip in skips]
    known = iter(await touching(store, ranges))
    found = []
    for job, skips in passed:
        new = [uncovered(job, skip, next(known)) for skip in skips]
        found.append([skip for skip in new if skip is not None])
    return found
