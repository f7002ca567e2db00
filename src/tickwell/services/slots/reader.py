"""Joins the fire times of one definition of a job with what the store has on record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tickwell.domain.execution import PENDING, Execution, RangeSkip, Reason, State
from tickwell.domain.job import Entry, JobState
from tickwell.services.slots.definition_spans import Span
from tickwell.services.slots.slot import Answer, Slot


@dataclass(slots=True)
class Ledger:
    """What the store has on record for a range."""

    until: int
    rows: dict[int, Execution] = field(default_factory=dict)
    skips: list[RangeSkip] = field(default_factory=list)


class SlotReader:
    """Reads the slots of one definition."""

    def __init__(self, entry: Entry, span: Span, known: Ledger, now: int) -> None:
        self.cursor = entry.cursor
        self.span = span
        self.known = known
        self.now = now

    def slots(self, after: int, end: int) -> Iterator[Slot]:
        """Its slots later than one instant and up to another."""
        trigger = self.span.job.trigger
        ranges = _Ranges(self.known.skips)
        slots = trigger.slots(after, end)
        if trigger.follows_finish:
            slots = ((t, "") for t in sorted(set(self._recorded(after, end))))
        for fire_time, reason in slots:
            if reason:
                yield Slot(fire_time, Answer.EXCLUDED, reason)
            else:
                yield self._answer(fire_time, ranges.reason_at(fire_time))

    def strays(self, found: set[int]) -> Iterator[Slot]:
        """What ran is a slot, whatever the trigger says: backfilled, or by a clock gone wrong."""
        for fire_time, row in self.known.rows.items():
            if fire_time not in found and row.state is not State.SKIPPED:
                yield self._answer(fire_time, None)

    def _recorded(self, after: int, end: int) -> Iterator[int]:
        """Counted from the end of the run before: they are known by their answers only."""
        yield from (t for t in self.known.rows if after < t <= end)
        yield from (skip.first for skip in self.known.skips if after < skip.first <= end)
        upcoming = self.cursor.next_fire_time
        is_known = self.cursor.state is JobState.ACTIVE and not self.cursor.nudged
        if self.span.current and is_known and upcoming is not None and after < upcoming <= end:
            yield upcoming

    def _answer(self, fire_time: int, reason: str | None) -> Slot:
        row = self.known.rows.get(fire_time)
        is_future = fire_time > self.now
        if row is not None and not (is_future and row.reason == Reason.WITHDRAWN):
            if row.state is State.SKIPPED:
                return Slot(fire_time, Answer.SKIPPED, row.reason, row.id, row.state)
            is_ahead = is_future and row.state in PENDING
            answer = Answer.UPCOMING if is_ahead else Answer.EXECUTED
            return Slot(fire_time, answer, row.reason, row.id, row.state)
        if reason is not None:
            return Slot(fire_time, Answer.SKIPPED, reason)
        if self.span.current and self._is_paused(fire_time):
            return Slot(fire_time, Answer.PAUSED)
        return Slot(fire_time, Answer.UPCOMING if is_future else Answer.UNANSWERED)

    def _is_paused(self, fire_time: int) -> bool:
        pause = self.cursor.pause
        if self.cursor.state is not JobState.PAUSED or fire_time <= self.cursor.after:
            return False
        return pause is None or pause.until is None or fire_time < pause.until


class _Ranges:
    """Range skips, asked in the order of time."""

    def __init__(self, skips: list[RangeSkip]) -> None:
        self.coming = sorted(skips, key=lambda skip: skip.first, reverse=True)
        self.open: list[RangeSkip] = []

    def reason_at(self, fire_time: int) -> str | None:
        """Why this instant was passed over, if it was."""
        while self.coming and self.coming[-1].first <= fire_time:
            self.open.append(self.coming.pop())
        self.open = [skip for skip in self.open if skip.last >= fire_time]
        return self.open[0].reason if self.open else None
