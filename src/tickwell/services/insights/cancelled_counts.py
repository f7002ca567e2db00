"""Counts executions that were cancelled while pending, for charts and for who listens.

No attempt reports their end.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from tickwell.domain.execution import Execution, State
from tickwell.domain.job import Job
from tickwell.domain.tally import (
    OTHER,
    PERIODS,
    Period,
    Tally,
    jobs_document,
    named_from,
    queues_document,
)
from tickwell.errors import StoreError
from tickwell.ports.records import ExecutionFilter, Record
from tickwell.ports.store import HistoryStore, RecordStore
from tickwell.services.projects.platform import PLATFORM

#: The owner of these records: cancels are rare enough for all processes to share one.
OWNER = "cancelled"
#: Queues or jobs that such a record names.
_MOST = 100
#: Executions that are read at once: a bulk action may cancel thousands.
_AT_ONCE = 100
#: Executions of a deleted job that are read at once.
_PAGE = 1000
#: What ended with its job says so.
_JOB_DELETED = "job deleted"
#: Writes of a record that are tried while other processes write it.
_TRIES = 10


#: Called with a project, and how many of its queues were cancelled.
OnCancelled = Callable[[str, Mapping[str, int]], None]


class CountingStore(HistoryStore, RecordStore, Protocol):
    """The part of a store that counting needs."""


async def count_cancelled(
    store: CountingStore, project: str, ids: Sequence[str], now: int, tell: OnCancelled
) -> None:
    """Count those of these executions that a request of this instant cancelled."""
    # A chart is no reason to fail a cancel that is recorded.
    with contextlib.suppress(StoreError):
        for start in range(0, len(ids), _AT_ONCE):
            part = ids[start : start + _AT_ONCE]
            found = await asyncio.gather(*(store.get_execution(project, id) for id in part))
            ended = [one for one in found if one is not None and _has_ended(one, now)]
            await _count(store, project, ended, now, tell)


async def count_deleted(store: CountingStore, job: Job, now: int, tell: OnCancelled) -> None:
    """Count the requested runs and retries that ended when their job was deleted now."""
    cancelled = frozenset({State.CANCELLED})
    where = ExecutionFilter(project=job.project, job_id=job.id, states=cancelled)
    cursor: str | None = None
    with contextlib.suppress(StoreError):
        while True:
            page = await store.list_executions(where, cursor, _PAGE)
            ended = [one for one in page.items if _has_ended(one, now)]
            with_job = [one for one in ended if one.reason == _JOB_DELETED]
            await _count(store, job.project, with_job, now, tell)
            cursor = page.cursor
            if cursor is None:
                return


def _has_ended(execution: Execution, now: int) -> bool:
    return execution.state is State.CANCELLED and execution.ended_at == now


async def _count(
    store: RecordStore, project: str, ended: Sequence[Execution], now: int, tell: OnCancelled
) -> None:
    if not ended:
        return
    queues = Counter(each.queue for each in ended)
    jobs = Counter(each.job_id for each in ended)
    tell(project, queues)
    await asyncio.gather(
        *(
            _add(store, period, where, names, now, of_jobs=names is jobs)
            for period in PERIODS
            for where, names in ((project, queues), (PLATFORM, queues), (project, jobs))
        )
    )


async def _add(
    store: RecordStore,
    period: Period,
    project: str,
    names: Counter[str],
    now: int,
    *,
    of_jobs: bool,
) -> None:
    start = now // period.length * period.length
    kind, key = period.job_kind if of_jobs else period.kind, period.key(start, OWNER)
    for _ in range(_TRIES):
        known = await store.get_record(kind, project, key, now)
        sums = named_from(known.document) if known else {}
        for name, count in names.items():
            fits = name in sums or len(sums) < _MOST
            sums.setdefault(name if fits else OTHER, Tally()).cancelled += count
        record = Record(
            kind=kind,
            project=project,
            key=key,
            document=(jobs_document if of_jobs else queues_document)(sums),
            expires_at=start + period.kept,
        )
        if await store.put_record(record, now, known.version if known else 0):
            return
