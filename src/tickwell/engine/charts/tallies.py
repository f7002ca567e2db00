"""Tallies: how many executions of each project, queue and job ended how, for charts.

Counting rows of history would cost more the more there is of it. Each process counts what it
reported under a key of its own, so that no process waits for another; a crash loses the last
seconds of a chart, never of history.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tickwell.clock import Clock
from tickwell.domain.event import AttemptsFinished, Event, Recovered
from tickwell.domain.fairness import PLATFORM_PROJECT
from tickwell.domain.policy import MINUTE
from tickwell.domain.tally import (
    OTHER,
    PERIODS,
    Named,
    Period,
    Tally,
    jobs_document,
    queues_document,
)
from tickwell.engine.running.reporter import UNTIL_WOKEN
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore

#: Seconds between two writes, and between two writes of what is counted per job.
FLUSH, FLUSH_JOBS = 5.0, 30.0
#: Jobs of a project that are counted by name in one interval; a record names fewer.
MOST_COUNTED = 100
#: Tallies that are merged before other tasks get the event loop: about a millisecond.
_IN_A_ROW = 200

#: Project, minute, queue and job of what was counted since the last write.
_Counted = tuple[str, int, str, str]
#: A record: the period, whether it is about jobs, the project, and the start of the interval.
_Slot = tuple[Period, bool, str, int]


class Tallies:
    """Listens to what was reported, and writes the sums now and then."""

    name = "tallies"

    def __init__(self, store: RecordStore, clock: Clock, owner: str) -> None:
        self.store = store
        self.clock = clock
        self.owner = owner
        self.wake: Callable[[], None] = lambda: None
        self._counted: dict[_Counted, Tally] = {}
        self._sums: dict[_Slot, Named] = {}
        self._changed: set[_Slot] = set()
        self._due = 0.0
        self._jobs_due = 0.0

    def on_event(self, event: Event) -> None:
        """Count; the listener of the engine's events."""
        if not isinstance(event, AttemptsFinished | Recovered):
            return
        counted = self._counted
        if not counted:
            self._due = self.clock.monotonic() + FLUSH
            self.wake()
        for report in event.reports:
            # One tally for all that it is shown by: this takes about 1 µs, the sums are for later.
            job = report.claim.job
            slot = job.project, report.ended_at // MINUTE, job.queue, job.id
            tally = counted.get(slot)
            if tally is None:
                tally = counted[slot] = Tally()
            tally.count(report)

    async def step(self) -> float:
        """Write what changed; return how long to rest."""
        now = self.clock.monotonic()
        if self._counted and now < self._due:
            return self._due - now
        jobs = now >= self._jobs_due
        await self._flush(jobs=jobs)
        self._forget()
        if jobs:
            self._jobs_due = now + FLUSH_JOBS
        return max(self._jobs_due - now, 0.0) if self._changed else UNTIL_WOKEN

    async def flush(self) -> None:
        """Write everything that changed."""
        await self._flush(jobs=True)

    async def _flush(self, *, jobs: bool) -> None:
        await self._merge()
        for slot in [slot for slot in self._changed if jobs or not slot[1]]:
            self._changed.discard(slot)
            try:
                await self._write(slot)
            except BaseException:
                self._changed.add(slot)
                raise

    async def _merge(self) -> None:
        """Add what was counted to the sums that it belongs to."""
        queues: dict[tuple[str, int, str], Tally] = {}
        oldest = self._oldest()
        done = 0
        while self._counted:
            (project, minute, queue, job), tally = self._counted.popitem()
            self._add((project, minute, job), tally, oldest, jobs=True)
            queues.setdefault((project, minute, queue), Tally()).add(tally)
            done += 1
            if done % _IN_A_ROW == 0:
                self._add_queues(queues, oldest)
                await asyncio.sleep(0)  # noqa: TID251 - no time passes
        self._add_queues(queues, oldest)

    def _add_queues(
        self, queues: dict[tuple[str, int, str], Tally], oldest: dict[Period, int]
    ) -> None:
        for (project, minute, queue), tally in queues.items():
            self._add((project, minute, queue), tally, oldest, jobs=False)
            # Of all projects together, for the platform's admins.
            self._add((PLATFORM_PROJECT, minute, queue), tally, oldest, jobs=False)
        queues.clear()

    def _add(
        self, where: tuple[str, int, str], tally: Tally, oldest: dict[Period, int], *, jobs: bool
    ) -> None:
        project, minute, name = where
        for period in PERIODS:
            # A report may be older, if the store was away. Its record may have been forgotten
            # here, and would be overwritten: such a report counts in the oldest open interval.
            start = max(minute * MINUTE // period.length * period.length, oldest[period])
            slot = period, jobs, project, start
            sums = self._sums.setdefault(slot, {})
            known = name in sums or len(sums) < MOST_COUNTED
            sums.setdefault(name if known else OTHER, Tally()).add(tally)
            self._changed.add(slot)

    async def _write(self, slot: _Slot) -> None:
        period, jobs, project, start = slot
        record = Record(
            kind=period.job_kind if jobs else period.kind,
            project=project,
            key=period.key(start, self.owner),
            document=(jobs_document if jobs else queues_document)(self._sums[slot]),
            expires_at=start + period.kept,
        )
        await self.store.put_record(record, self.clock.now())

    def _oldest(self) -> dict[Period, int]:
        """The oldest open interval of each period."""
        now = self.clock.now()
        return {each: (now // each.length - each.open) * each.length for each in PERIODS}

    def _forget(self) -> None:
        """Drop sums that nothing more is added to."""
        oldest = self._oldest()
        for slot in [slot for slot in self._sums if slot[3] < oldest[slot[0]]]:
            if slot not in self._changed:
                del self._sums[slot]
