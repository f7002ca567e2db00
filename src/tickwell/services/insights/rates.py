"""Rates: what ended in each interval, summed over the processes that counted it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from tickwell.domain.tally import HOURS, OTHER, Named, Range, Tally
from tickwell.ports.store import RecordStore

#: Records that one list call reads: of 10 minutes or 24 hours, of 400 processes at least.
_MOST = 10_000

#: The start of an interval, and what one process counted in it.
Counted = tuple[int, Any]


async def read(
    store: RecordStore, project: str, within: Range, now: int, *, jobs: bool = False
) -> Sequence[Counted]:
    """The records of a range, of queues or of jobs."""
    labels = within.by_label()
    kind = within.period.job_kind if jobs else within.period.kind
    pages = await asyncio.gather(
        *(store.list_records(kind, project, each, now, _MOST) for each in within.prefixes())
    )
    records = (record for page in pages for record in page)
    found = ((labels.get(record.key.partition("/")[0]), record.document) for record in records)
    return [(start, document) for start, document in found if start is not None]


def by_interval(
    counted: Sequence[Counted], starts: range, group: str | None = None, name: str = ""
) -> dict[int, Tally]:
    """The totals of each interval, or those of one name in "queues" or "jobs"."""
    sums = {start: Tally() for start in starts}
    for start, document in counted:
        part = document if group is None else document.get(group, {}).get(name)
        if part is not None:
            sums[start].add(Tally.from_document(part))
    return sums


def by_name(counted: Sequence[Counted], group: str) -> Named:
    """The totals of each name in "queues" or "jobs", the one with most executions first."""
    sums: Named = {}
    for _, document in counted:
        for name, part in document.get(group, {}).items():
            sums.setdefault(name, Tally()).add(Tally.from_document(part))
    ranked = sorted(sums, key=lambda name: (name == OTHER, -sums[name].weight, name))
    return {name: sums[name] for name in ranked}


async def hourly(
    store: RecordStore, project: str, since: int, until: int, now: int
) -> dict[int, Tally]:
    """The totals of the hours that begin in [since, until), by their first instant."""
    within = Range(HOURS, since, until)
    return by_interval(await read(store, project, within, now), within.starts())
