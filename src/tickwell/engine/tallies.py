"""Tallies: how many attempts of each project ended how, by the hour, for charts.

Counting rows of history would cost more the more there is of it. Each process counts what it
reported under a key of its own, so nobody waits for anybody; a crash loses the last seconds of a
chart, never of history.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from tickwell.clock import Clock
from tickwell.domain.event import AttemptsFinished, Event
from tickwell.domain.execution import OutcomeKind, State
from tickwell.domain.outcome import Report
from tickwell.domain.policy import DAY, HOUR
from tickwell.domain.tally import KIND, Tally, tally_key
from tickwell.engine.reporter import UNTIL_WOKEN
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore

#: Seconds between two writes.
FLUSH = 5.0
#: Milliseconds that a tally is kept.
KEPT = 35 * DAY


class Tallies:
    """Hears what was reported, and writes the sums now and then."""

    name = "tallies"

    def __init__(self, store: RecordStore, clock: Clock, owner: str) -> None:
        self.store = store
        self.clock = clock
        self.owner = owner
        self.wake: Callable[[], None] = lambda: None
        self._sums: dict[tuple[str, int], Tally] = defaultdict(Tally)
        self._changed: set[tuple[str, int]] = set()
        self._due = 0.0

    def on_event(self, event: Event) -> None:
        """Count; the listener of the engine's events."""
        if not isinstance(event, AttemptsFinished):
            return
        if not self._changed:
            self._due = self.clock.monotonic() + FLUSH
            self.wake()
        for report in event.reports:
            self._count(report)

    def _count(self, report: Report) -> None:
        slot = report.claim.job.project, report.ended_at // HOUR
        tally = self._sums[slot]
        self._changed.add(slot)
        if report.state is State.SUCCEEDED:
            tally.succeeded += 1
        elif report.state is State.DEAD:
            tally.dead += 1
        elif report.outcome in {OutcomeKind.FAILED, OutcomeKind.TIMED_OUT, OutcomeKind.LOST}:
            tally.retried += 1
        if report.started_at is not None:
            tally.millis += report.ended_at - report.started_at

    async def step(self) -> float:
        """Write what changed; say how long to rest."""
        left = self._due - self.clock.monotonic()
        if self._changed and left > 0:
            return left
        await self.flush()
        self._forget()
        return UNTIL_WOKEN

    async def flush(self) -> None:
        """Write what changed."""
        while self._changed:
            slot = self._changed.pop()
            try:
                await self._write(slot)
            except BaseException:
                self._changed.add(slot)
                raise

    async def _write(self, slot: tuple[str, int]) -> None:
        project, hour = slot
        record = Record(
            kind=KIND,
            project=project,
            key=tally_key(hour, self.owner),
            document=self._sums[slot].to_document(),
            expires_at=hour * HOUR + KEPT,
        )
        await self.store.put_record(record, self.clock.now())

    def _forget(self) -> None:
        """Hours that are over: nothing more is added to them."""
        hour = self.clock.now() // HOUR
        for slot in [slot for slot in self._sums if slot[1] < hour - 1]:
            del self._sums[slot]
