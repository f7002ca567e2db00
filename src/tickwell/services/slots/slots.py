"""Slots: every nominal fire time of a job with its answer, so that nothing is missed in silence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from typing import Protocol

from tickwell.domain.execution import Kind
from tickwell.domain.job import Entry
from tickwell.errors import InvalidInput, NotFound
from tickwell.ports.records import ExecutionFilter
from tickwell.ports.store import CatalogStore, HistoryStore, RecordStore
from tickwell.services.cooperative import paced
from tickwell.services.slots.completeness import Completeness, count
from tickwell.services.slots.definition_spans import Span, spans
from tickwell.services.slots.purge_log import purged_fire_times
from tickwell.services.slots.reader import Ledger, SlotReader
from tickwell.services.slots.retention_edge import pruned_before
from tickwell.services.slots.slot import Answer, Slot, SlotPage
from tickwell.services.time import Time

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
        items: list[Slot] = []
        for span in versions:
            reader = SlotReader(entry, span, known, now)
            items += [slot async for slot in paced(reader.slots(*span.within(since, known.until)))]
        items += reader.strays({slot.fire_time for slot in items})
        items = await self._checked(entry, versions, _once(items), now)
        if len(items) > LIMIT:
            # Runs counted from the end of the one before are known only now.
            cut = items[LIMIT].fire_time
        return SlotPage(items=items[:LIMIT], next=cut)

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
        times += [instant async for instant, _ in paced(found)]
        if len(times) > LIMIT:
            return sorted(times)[LIMIT]
    return None


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
