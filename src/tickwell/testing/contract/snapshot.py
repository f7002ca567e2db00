"""All that can be seen of a store, as plain data that can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from tickwell.domain.job import Entry, JobState
from tickwell.ports.records import ExecutionFilter, JobFilter
from tickwell.ports.store import Store

#: Kinds of records that tests write.
KINDS = ("job_version", "note")
_ALL = frozenset(JobState)


async def snapshot(
    store: Store, now: int, *, projects: Sequence[str] = ("default",), queues: Sequence[str] = ()
) -> dict[str, Any]:
    """Jobs and cursors, executions with attempts, skips, workers, records, wake-ups, counts."""
    entries = await _jobs(store)
    return {
        "jobs": {entry.job.id: (entry.job, entry.cursor) for entry in entries},
        "executions": await _executions(store),
        "steps": await _steps(store),
        "skips": {
            entry.job.id: [asdict(skip) for skip in await store.list_skips(entry.job.id, 0, 10**15)]
            for entry in entries
        },
        "workers": [asdict(liveness) for liveness in await store.list_workers()],
        "records": [
            asdict(record)
            for kind in KINDS
            for project in projects
            for record in await store.list_records(kind, project, "", now)
        ],
        "wakeup": asdict(await store.next_wakeup(now)),
        "runs": {queue: (await store.next_wakeup(now, [queue])).run for queue in queues},
        "stats": await store.stats(),
    }


async def _steps(store: Store) -> list[dict[str, Any]]:
    page = await store.list_executions(ExecutionFilter(), limit=1000)
    started = [one for one in page.items if one.attempt]
    found = [await store.list_steps(one.project, one.id) for one in started]
    return [asdict(step) for steps in found for step in steps]


async def _jobs(store: Store) -> list[Entry]:
    page = await store.list_jobs(JobFilter(states=_ALL), limit=100)
    entries = page.items
    while page.cursor is not None:
        page = await store.list_jobs(JobFilter(states=_ALL), page.cursor, limit=100)
        entries += page.items
    return entries


async def _executions(store: Store) -> dict[str, Any]:
    """Each as it is read alone, with its attempts."""
    page = await store.list_executions(ExecutionFilter(), limit=100)
    listed = page.items
    while page.cursor is not None:
        page = await store.list_executions(ExecutionFilter(), page.cursor, limit=100)
        listed += page.items
    found = [await store.get_execution(one.project, one.id) for one in listed]
    return {one.id: asdict(one) for one in found if one is not None}
