"""Rates: what ended in each hour, summed over the processes that reported it."""

from __future__ import annotations

import asyncio

from tickwell.clock import to_datetime
from tickwell.domain.policy import DAY, HOUR
from tickwell.domain.tally import KIND, Tally
from tickwell.ports.store import RecordStore


async def hourly(
    store: RecordStore, project: str, since: int, until: int, now: int
) -> dict[int, Tally]:
    """The tallies of the hours that begin in [since, until), by their first instant."""
    sums = {hour * HOUR: Tally() for hour in range(-(-since // HOUR), -(-until // HOUR))}
    days = range(since // DAY, (until - 1) // DAY + 1)
    prefixes = [f"{to_datetime(day * DAY):%Y-%m-%d}T" for day in days]
    found = await asyncio.gather(
        *(store.list_records(KIND, project, prefix, now) for prefix in prefixes)
    )
    for day, records in zip(days, found, strict=True):
        for record in records:
            hour = day * DAY + int(record.key[11:13]) * HOUR
            if hour in sums:
                sums[hour].add(Tally.from_document(record.document))
    return sums


def total(tallies: dict[int, Tally]) -> Tally:
    """All of them together."""
    found = Tally()
    for tally in tallies.values():
        found.add(tally)
    return found
