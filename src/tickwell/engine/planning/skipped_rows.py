"""The executions that a planner's step has skipped, for those who listen to skips."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from tickwell.domain.execution import Execution, RangeSkip, Reason, State
from tickwell.domain.explanation import reason_of
from tickwell.domain.job import Job
from tickwell.ports.records import ExecutionFilter
from tickwell.ports.store import CatalogStore, HistoryStore

#: Skipped executions of one page, and pages of one look: what expires may be old.
PAGE, PAGES = 100, 10


class SkipStore(CatalogStore, HistoryStore, Protocol):
    """What is read of a store."""


async def skipped_at(store: SkipStore, now: int) -> list[tuple[Job, RangeSkip]]:
    """Each of the newest executions that were skipped by a step of this instant, with its job.

    Stores answer how many they skipped, and not which: nobody else asks for it.
    """
    found = [each async for each in _skipped(store) if each.ended_at == now]
    jobs: dict[str, Job] = {}
    for project in {each.project for each in found}:
        ids = sorted({each.job_id for each in found if each.project == project})
        jobs |= {entry.job.id: entry.job for entry in await store.get_jobs(project, ids)}
    return [
        (jobs[each.job_id], skip_of(each.job_id, each.fire_time, reason))
        for each in reversed(found)
        if each.job_id in jobs and (reason := reason_of(each.state, each.reason)) is not None
    ]


def skip_of(job_id: str, fire_time: int, reason: Reason) -> RangeSkip:
    """The skip of one fire time."""
    return RangeSkip(job_id=job_id, first=fire_time, last=fire_time, count=1, reason=reason)


async def _skipped(store: HistoryStore) -> AsyncIterator[Execution]:
    where, cursor = ExecutionFilter(states=frozenset({State.SKIPPED})), None
    for _ in range(PAGES):
        page = await store.list_executions(where, cursor, PAGE)
        for each in page.items:
            yield each
        cursor = page.cursor
        if cursor is None:
            return
