"""From when on a job's history is complete: what is older may have been pruned."""

from __future__ import annotations

from collections.abc import Sequence

from tickwell.domain.execution import ENDED, State
from tickwell.domain.job import Job
from tickwell.domain.policy import Retention
from tickwell.ports.records import ExecutionFilter
from tickwell.ports.store import HistoryStore
from tickwell.services.slots.definition_spans import Span

_PAGE = 1000


async def pruned_before(store: HistoryStore, versions: Sequence[Span], now: int) -> int:
    """Fire times earlier than this may have lost their execution to the job's retention.

    By that of a former version too: what it let go does not come back when more is kept later.
    """
    ends: dict[Retention, int] = {}
    for span in versions:
        # The latest end counts: until then there was ever more to be pruned.
        ends[span.job.retention] = now if span.current or span.until is None else span.until
    job = versions[-1].job
    return max([await _edge(store, job, kept, end) for kept, end in ends.items()])


async def _edge(store: HistoryStore, job: Job, kept: Retention, end: int) -> int:
    """Up to where such a retention, in force until then, may have pruned."""
    by_age = end - min(kept.age, kept.dead)
    if kept.count == 0:
        return end
    where = ExecutionFilter(
        project=job.project,
        job_id=job.id,
        states=ENDED - {State.DEAD},
        since=by_age,
        until=end + 1,
    )
    cursor, left = None, kept.count
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
