"""Warnings about a saved job: handlers and queues that no live worker has yet."""

from __future__ import annotations

from collections.abc import Sequence

from tickwell.clock import Clock
from tickwell.domain.coverage import Coverage
from tickwell.domain.job import Job
from tickwell.domain.target import Call
from tickwell.errors import StoreError
from tickwell.ports.store import HistoryStore


async def job_warnings(store: HistoryStore, clock: Clock, jobs: Sequence[Job]) -> list[str]:
    """Each handler or queue that no live worker has for these jobs, in the words of health.

    A job may be saved before its worker is deployed, so this warns and never refuses. A handler of
    another project gets the same words as one that does not exist.
    """
    lanes = {(job.queue, job.ability): None for job in jobs if isinstance(job.target, Call)}
    if not lanes:
        return []
    now = clock.now()
    try:
        workers = await store.list_workers()
    except StoreError:
        return []  # the job itself is saved or read, and that is what the caller asked for
    coverage = Coverage(each for each in workers if each.is_counted_on(now))
    gaps = dict.fromkeys(coverage.lane_gap(*lane) for lane in lanes)
    return [f"{gap}; executions wait until one does" for gap in gaps if gap]
