"""From when on a job's history is complete: what is older may have been pruned."""

from __future__ import annotations

from tickwell.domain.execution import ENDED, State
from tickwell.domain.job import Job
from tickwell.ports.records import ExecutionFilter
from tickwell.ports.store import HistoryStore

_PAGE = 1000


async def pruned_before(store: HistoryStore, job: Job, now: int) -> int:
    """Fire times earlier than this may have lost their execution to the job's retention."""
    by_age = now - job.retention.age
    if job.retention.count == 0:
        return now
    where = ExecutionFilter(
        project=job.project, job_id=job.id, states=ENDED - {State.DEAD}, since=by_age
    )
    cursor, left = None, job.retention.count
    while left > 0:
        page = await store.list_executions(where, cursor, min(left, _PAGE))
        left -= len(page.items)
        if left == 0:
            # As many as are kept at all: the oldest of them is where the others were dropped.
            return max(by_age, page.items[-1].fire_time)
        if page.cursor is None:
            break
        cursor = page.cursor
    return by_age
