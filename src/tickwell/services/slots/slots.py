"""The slots of a job: fire times with their answers, and whether each has one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import islice
from typing import Protocol

from tickwell.domain.execution import (
    ENDED,
    PENDING,
    TAKEN_BACK,
    Execution,
    Kind,
    RangeSkip,
    Reason,
    State,
)
from tickwell.domain.job import Entry, JobState
from tickwell.domain.maintenance import Closed, MaintenanceWindow, covering_at
from tickwell.engine.planning.maintenance import windows_of
from tickwell.errors import InvalidInput, NotFound
from tickwell.ports.records import ExecutionFilter
from tickwell.ports.store import CatalogStore, HistoryStore, RecordStore
from tickwell.services.cooperative import cooperatively
from tickwell.services.slots.retention_edge import Span, pruned_before, purged_fire_times, spans
from tickwell.services.slots.skip_notes import skip_notes
from tickwell.services.time import Time


class Answer(StrEnum):
    """What became of a fire time."""

    #: There is an execution; `state` says how it stands.
    EXECUTED = "executed"
    #: It was passed over; `reason` says why.
    SKIPPED = "skipped"
    #: Its instant has not come.
    UPCOMING = "upcoming"
    #: A window or a calendar took it out: no fire time, and so no row.
    EXCLUDED = "excluded"
    #: Missed, and held until a person decides or the configured answer applies.
    HELD = "held"
    #: The job is paused now; resuming records it as skipped.
    PAUSED = "paused"
    #: Its execution was pruned with the rest of the old history, or purged by a person.
    PRUNED = "pruned"
    #: Nobody has answered it; if it stays so, something is broken.
    UNANSWERED = "unanswered"


@dataclass(frozen=True, slots=True)
class Slot:
    """A nominal fire time with its answer."""

    fire_time: int
    answer: Answer
    #: Why it was skipped or taken out.
    reason: str | None = None
    execution_id: str | None = None
    state: State | None = None
    #: The person who skipped it or saved the maintenance window, and why.
    by: str | None = None
    why: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether it has not run, and is one that a backfill runs."""
        return self.answer in {Answer.SKIPPED, Answer.PAUSED, Answer.HELD, Answer.UNANSWERED}

    @property
    def has_run(self) -> bool:
        """Whether it ran and ended, and is one that a forced backfill runs again."""
        return self.answer is Answer.PRUNED or (self.state in ENDED and not self.is_open)


@dataclass(slots=True, kw_only=True)
class SlotPage:
    """Slots of a range, oldest first."""

    items: list[Slot]
    #: Where the next part begins when there were too many; None: this is all.
    next: int | None = None


@dataclass(slots=True, kw_only=True)
class Completeness:
    """The slots of a range, counted; what is to come and what a window took out is not due."""

    due: int = 0
    executed: int = 0
    skipped_by_reason: dict[str, int] = field(default_factory=dict)
    #: Their executions were pruned with the rest of the old history, or purged by a person.
    pruned: int = 0
    #: Zero, or something is broken.
    unanswered: int = 0
    #: Where counting stopped, if the range had too many slots; None: all are counted.
    next: int | None = None

    def __str__(self) -> str:
        parts = [f"{self.due} due", f"{self.executed} ran"]
        for reason, count in sorted(self.skipped_by_reason.items()):
            parts.append(f"{count} skipped: {reason}")
        if self.pruned:
            parts.append(f"{self.pruned} pruned")
        if self.unanswered:
            parts.append(f"{self.unanswered} unanswered")
        return ", ".join(parts)


def count(slots: Iterable[Slot], now: int) -> Completeness:
    """Count slots up to now."""
    answers: Counter[Answer] = Counter()
    reasons: Counter[str] = Counter()
    for slot in slots:
        if slot.fire_time > now or slot.answer is Answer.EXCLUDED:
            continue
        answers[slot.answer] += 1
        if slot.answer in {Answer.SKIPPED, Answer.PAUSED, Answer.HELD}:
            reasons[str(slot.reason or slot.answer)] += 1
    return Completeness(
        due=answers.total(),
        executed=answers[Answer.EXECUTED],
        skipped_by_reason=dict(reasons),
        pruned=answers[Answer.PRUNED],
        unanswered=answers[Answer.UNANSWERED],
    )


@dataclass(slots=True)
class Ledger:
    """What the store has on record for a range."""

    until: int
    rows: dict[int, Execution] = field(default_factory=dict)
    skips: list[RangeSkip] = field(default_factory=list)


class SlotReader:
    """Reads the slots of one definition."""

    def __init__(
        self,
        entry: Entry,
        span: Span,
        known: Ledger,
        now: int,
        windows: Sequence[MaintenanceWindow] = (),
    ) -> None:
        self.cursor = entry.cursor
        self.in_maintenance = Closed(windows).of(span.job)
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
            elif self._is_held(fire_time):
                yield Slot(fire_time, Answer.HELD)
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
        return self._unplanned(fire_time, is_future=is_future)

    def _unplanned(self, fire_time: int, *, is_future: bool) -> Slot:
        """A slot without an answer on record."""
        if self.span.current and is_future and fire_time in self.cursor.skipped:
            return Slot(fire_time, Answer.SKIPPED, Reason.BY_PERSON)
        if is_future and self.in_maintenance is not None and self.in_maintenance(fire_time):
            return Slot(fire_time, Answer.SKIPPED, Reason.MAINTENANCE)
        if self.span.current and self._is_paused(fire_time):
            return Slot(fire_time, Answer.PAUSED)
        return Slot(fire_time, Answer.UPCOMING if is_future else Answer.UNANSWERED)

    def _is_held(self, fire_time: int) -> bool:
        backlog = self.cursor.backlog
        if backlog is None or not backlog.holds(fire_time):
            return False
        return _is_taken_back(self.known.rows.get(fire_time))

    def _is_paused(self, fire_time: int) -> bool:
        pause = self.cursor.pause
        if self.cursor.state is not JobState.PAUSED or fire_time <= self.cursor.after:
            return False
        return pause is None or pause.until is None or fire_time < pause.until


def _is_taken_back(row: Execution | None) -> bool:
    """Whether a fire time has no row but one that a plan arms again."""
    return row is None or (row.state is State.SKIPPED and row.reason in TAKEN_BACK)


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


#: Slots that one call answers with.
LIMIT = 10_000
_PAGE = 1000


class SlotStore(CatalogStore, HistoryStore, RecordStore, Protocol):
    """What slots are read from."""


class Slots:
    """Reads them from any store."""

    def __init__(self, store: SlotStore, clock: Time) -> None:
        self.store = store
        self.clock = clock

    async def read(
        self, project: str, key: str, since: int, until: int, *, unborn: bool = False
    ) -> SlotPage:
        """The slots in [since, until) of a job, given by name or id; up to `LIMIT` of them.

        Unborn: with fire times from before the job existed, as its first version has them.
        """
        if since >= until:
            raise InvalidInput(
                "the range is empty", field="until", hint="It ends later than it begins"
            )
        found = await self.store.get_jobs(project, [key])
        if not found:
            raise NotFound("job", key)
        entry, now = found[0], self.clock.now()
        versions = await spans(self.store, entry, since, now)
        if unborn:
            versions[0] = replace(versions[0], after=min(versions[0].after, since - 1))
        cut = await _cut(versions, since, until)
        known = await self._answers(entry, since, until if cut is None else cut)
        windows = await windows_of(self.store, project, now)
        items: list[Slot] = []
        for span in versions:
            reader = SlotReader(entry, span, known, now, windows)
            items += [
                slot async for slot in cooperatively(reader.slots(*span.within(since, known.until)))
            ]
        items += reader.strays({slot.fire_time for slot in items})
        items = await self._checked(entry, versions, _once(items), now)
        if len(items) > LIMIT:
            # Runs counted from the end of the one before are known only now.
            cut = items[LIMIT].fire_time
        items = await self._by_person(entry, items[:LIMIT], now)
        return SlotPage(items=_in_windows(entry, items, windows), next=cut)

    async def _by_person(self, entry: Entry, items: list[Slot], now: int) -> list[Slot]:
        """With who skipped an occurrence, and why."""
        if not any(slot.reason == Reason.BY_PERSON for slot in items):
            return items
        notes = await skip_notes(self.store, entry.job.project, entry.job.id, now)
        return [
            replace(slot, by=note.by, why=note.why)
            if slot.reason == Reason.BY_PERSON and (note := notes.get(slot.fire_time)) is not None
            else slot
            for slot in items
        ]

    async def completeness(self, project: str, key: str, since: int, until: int) -> Completeness:
        """The slots in [since, until) that were due by now, counted; cut like `read`."""
        page = await self.read(project, key, since, until)
        counted = count(page.items, self.clock.now())
        counted.next = page.next
        return counted

    async def _answers(self, entry: Entry, since: int, until: int) -> Ledger:
        job = entry.job
        where = ExecutionFilter(
            project=job.project, job_id=job.id, kind=Kind.FIRE, since=since, until=until
        )
        answers = Ledger(until)
        page = await self.store.list_executions(where, limit=_PAGE)
        answers.rows.update((row.fire_time, row) for row in page.items)
        while page.cursor is not None:
            page = await self.store.list_executions(where, page.cursor, _PAGE)
            answers.rows.update((row.fire_time, row) for row in page.items)
        skips = await self.store.list_skips(job.id, since, until)
        # One that counts nothing stands for rows, and says nothing once they are pruned.
        answers.skips = [skip for skip in skips if skip.count]
        return answers

    async def _checked(
        self, entry: Entry, versions: list[Span], items: list[Slot], now: int
    ) -> list[Slot]:
        """Tell what nobody answered from what was pruned, or was no fire time any more."""
        if not any(slot.answer is Answer.UNANSWERED for slot in items):
            return items
        for span in versions:
            if span.job.trigger.max_runs is not None and not span.current:
                last = await self._last_answer(span)
                items = [slot for slot in items if not _is_beyond(slot, span, last)]
        job = entry.job
        pruned = await pruned_before(self.store, versions, now)
        purged = await purged_fire_times(self.store, job.project, job.id, now)
        return [
            Slot(slot.fire_time, Answer.PRUNED)
            if slot.answer is Answer.UNANSWERED
            and (job.created_at < slot.fire_time < pruned or slot.fire_time in purged)
            else slot
            for slot in items
        ]

    async def _last_answer(self, span: Span) -> int:
        """The last fire time that a former version answered: its runs may have been used up."""
        job, end = span.job, (span.until or 0) + 1
        where = ExecutionFilter(
            project=job.project, job_id=job.id, kind=Kind.FIRE, since=span.after + 1, until=end
        )
        rows = await self.store.list_executions(where, limit=1)
        ranges = await self.store.list_skips(job.id, span.after + 1, end)
        times = [row.fire_time for row in rows.items] + [each.last for each in ranges]
        return max(times, default=span.after)


async def _cut(versions: list[Span], since: int, until: int) -> int | None:
    """Where a range with too many slots is cut, or None; neither fires nor exclusions pass it."""
    times: list[int] = []
    for span in versions:
        after, end = span.within(since, until)
        if span.job.trigger.follows_finish:
            continue
        found = islice(span.job.trigger.slots(after, end), LIMIT + 1)
        times += [instant async for instant, _ in cooperatively(found)]
        if len(times) > LIMIT:
            return sorted(times)[LIMIT]
    return None


def _in_windows(
    entry: Entry, items: list[Slot], windows: Sequence[MaintenanceWindow]
) -> list[Slot]:
    """With the name of the maintenance window that a slot was in, who saved it, and why."""
    if not windows:
        return items
    found = []
    for slot in items:
        window = None
        if slot.reason == Reason.MAINTENANCE:
            window = covering_at(windows, entry.job, slot.fire_time)
        if window is not None:
            why = f"{window.name}: {window.why}" if window.why else window.name
            slot = replace(slot, by=window.by, why=why)  # noqa: PLW2901
        found.append(slot)
    return found


def _once(slots: Iterable[Slot]) -> list[Slot]:
    """Each instant once, in order: versions meet where a late `Once` fires within its grace."""
    found: dict[int, Slot] = {}
    for slot in slots:
        known = found.get(slot.fire_time)
        if known is None or known.answer in {Answer.UNANSWERED, Answer.EXCLUDED}:
            found[slot.fire_time] = slot
    return [found[fire_time] for fire_time in sorted(found)]


def _is_beyond(slot: Slot, span: Span, last: int) -> bool:
    """A slot of a former version that nobody answered, after the last one that was."""
    until = span.until or 0
    return slot.answer is Answer.UNANSWERED and last < slot.fire_time <= until
