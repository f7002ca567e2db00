"""How far back the history of a job goes: its definitions, and what was pruned or purged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from tickwell.clock import NEVER
from tickwell.domain.document import job_from_document
from tickwell.domain.execution import ENDED, Execution, Kind, State
from tickwell.domain.job import Entry, Job, JobState
from tickwell.domain.planning import first_cursor
from tickwell.domain.policy import DAY, Retention
from tickwell.domain.trigger.work import tried_before
from tickwell.ports.records import ExecutionFilter, Record
from tickwell.ports.store import HistoryStore, RecordStore
from tickwell.services.cooperative import cooperatively

#: Old versions that one call to the store reads; their keys end in the number.
_BATCH = 1000
#: Runs that are left over and counted ahead to find the last of them.
FORESEEN = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A definition and the fire times that it answers for: later than `after`, up to `until`."""

    job: Job
    after: int
    until: int | None
    #: The definition that is in force now.
    current: bool

    def within(self, since: int, until: int) -> tuple[int, int]:
        """The part of [since, until) that is its own: later than the first, up to the second."""
        end = until - 1 if self.until is None else min(until - 1, self.until)
        return max(self.after, since - 1), end


async def spans(store: RecordStore, entry: Entry, since: int, now: int) -> list[Span]:
    """The definitions that were in force since then, oldest first; the oldest may begin earlier."""
    job = entry.job
    found = [Span(job=job, after=_begin(job), until=await _end(entry), current=True)]
    for batch in range((job.version - 1) // _BATCH, -1, -1):
        if job.saved_at < since:
            break
        prefix = f"{job.id}/{batch:05}"
        records = await store.list_records("job_version", job.project, prefix, now, _BATCH)
        for record in reversed(records):
            with tried_before():
                old = job_from_document(record.document)
            found.append(Span(job=old, after=_begin(old), until=job.saved_at, current=False))
            job = old
    return found[::-1]


async def _end(entry: Entry) -> int | None:
    """The last fire time of the definition in force, where that is known: its runs may be few."""
    trigger, cursor = entry.job.trigger, entry.cursor
    if cursor.state in {JobState.FINISHED, JobState.DELETED}:
        return cursor.after
    if trigger.max_runs is None or trigger.follows_finish or cursor.state is JobState.PAUSED:
        return None
    left = trigger.max_runs - cursor.runs
    if left > FORESEEN:
        return None
    last = cursor.after
    async for fire in cooperatively(islice(trigger.between(cursor.after, NEVER), left)):
        last = fire
    return last


def _begin(job: Job) -> int:
    """A new job takes up a `Once` that lies within its grace; an edit says so in `saved_at`."""
    return first_cursor(job, job.saved_at).after if job.version == 1 else job.saved_at


KIND = "purged"
#: Milliseconds that a note is kept: by then the rest of the history is pruned.
KEPT = 366 * DAY


async def note(store: RecordStore, executions: Iterable[Execution], now: int) -> None:
    """Write down what is about to be purged."""
    fire_times: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for one in executions:
        if one.kind is Kind.FIRE:
            fire_times[one.project, one.job_id].append(one.fire_time)
    for (project, job), times in fire_times.items():
        record = Record(
            kind=KIND,
            project=project,
            key=f"{job}/{now:013}-{max(times)}",
            document={"fire_times": times},
            expires_at=now + KEPT,
        )
        await store.put_record(record, now)


async def purged_fire_times(store: RecordStore, project: str, job: str, now: int) -> set[int]:
    """Those of a job."""
    records = await store.list_records(KIND, project, f"{job}/", now)
    return {time for record in records for time in record.document["fire_times"]}


_PAGE = 1000


async def pruned_before(store: HistoryStore, versions: Sequence[Span], now: int) -> int:
    """Fire times earlier than this may have lost their execution to the job's retention.

    By that of a former version too: what it let go does not come back when more is kept later.
    """
    ends: dict[Retention, int] = {}
    for span in versions:
        # The latest end counts: until then there was ever more to be pruned.
        ends[span.job.retention] = now if span.current or span.until is None else span.until
    job = versions[-1].job
    return max([await _edge(store, job, retention, end) for retention, end in ends.items()])


async def _edge(store: HistoryStore, job: Job, retention: Retention, end: int) -> int:
    """Up to where such a retention, in force until then, may have pruned."""
    by_age = end - min(retention.age, retention.dead)
    if retention.count == 0:
        return end
    where = ExecutionFilter(
        project=job.project,
        job_id=job.id,
        states=ENDED - {State.DEAD},
        since=by_age,
        until=end + 1,
    )
    cursor, left = None, retention.count
    while left > 0:
        page = await store.list_executions(where, cursor, min(left, _PAGE))
        left -= len(page.items)
        if left == 0:
            # As many as are kept at all: the oldest of them is where the others were dropped.
            return max(by_age, page.items[-1].fire_time)
        if page.cursor is None:
            break
        cursor = page.cursor
    return by_age
