"""Range skips that are on record."""

from __future__ import annotations

from collections.abc import Sequence

from tickwell.domain.execution import RangeSkip
from tickwell.domain.job import Job
from tickwell.domain.skips import uncovered
from tickwell.stores.redis.client import Client
from tickwell.stores.redis.rows import dumps, skip_of


async def touching(client: Client, ranges: Sequence[tuple[str, int, int]]) -> list[list[RangeSkip]]:
    """For each range, a job with a first and a last instant, the skips on record that touch it."""
    if not ranges:
        return []
    found = await client.answer("list_skips", dumps(ranges))
    return [
        [skip_of(job, row) for row in rows] for (job, _, _), rows in zip(ranges, found, strict=True)
    ]


async def unrecorded(
    client: Client, passed: Sequence[tuple[Job, Sequence[RangeSkip]]]
) -> list[list[RangeSkip]]:
    """What of the skipped ranges of each job is not on record yet.

    Writing a range moves the job's cursor, so the answer holds while the cursor is unchanged.
    """
    ranges = [(job.id, skip.first, skip.last) for job, skips in passed for skip in skips]
    known = iter(await touching(client, ranges))
    found = []
    for job, skips in passed:
        new = [uncovered(job, skip, next(known)) for skip in skips]
        found.append([skip for skip in new if skip is not None])
    return found
