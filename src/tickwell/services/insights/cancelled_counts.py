"""Counts executions that were cancelled while pending: no attempt reports their end."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Sequence
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
#: Executions of a deleted job that are looked at.
_PER_JOB = 1000
#: Writes of a record that are tried while other processes write it.
_TRIES = 10


class CountingStore(HistoryStore, RecordStore, Protocol):
    """The part of a store that counting needs."""


async def count_cancelled(store: CountingStore, project: str, ids: Sequence[str], now: int) -> None:
    """Count those of these executions that a request of this instant cancelled."""
    # A chart is no reason to fail a cancel that is recorded.
    with contextlib.suppress(StoreError):
        for start in range(0, len(ids), _AT_ONCE):
            part = ids[start : start + _AT_ONCE]
            found = await asyncio.gather(*(store.get_execution(project, id) for id in part))
            await _count(store, project, [*filter(None, found)], now)


async def count_deleted(store: CountingStore, job: Job, now: int) -> None:
    """Count the requested runs and retries that ended when their job was deleted now."""
    with contextlib.suppress(StoreError):
        cancelled = frozenset({State.CANCELLED})
        where = ExecutionFilter(project=job.project, job_id=job.id, states=cancelled)
        page = await store.list_executions(where, limit=_PER_JOB)
        await _count(store, job.project, page.items, now)


async def _count(
    store: RecordStore, project: str, executions: Sequence[Execution], now: int
) -> None:
    ended = [each for each in executions if each.state is State.CANCELLED and each.ended_at == now]
    if not ended:
        return
    queues = Counter(each.queue for each in ended)
    jobs = Counter(each.job_id for each in ended)
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
