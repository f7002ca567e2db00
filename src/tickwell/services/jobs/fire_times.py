"""The fire times of a job that are still to come, as far as they are known."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice

from tickwell.clock import NEVER
from tickwell.domain.document import job_to_document
from tickwell.domain.job import Entry, Job, JobState, copied
from tickwell.domain.trigger.shared_calendars import without_days


def upcoming(entry: Entry, now: int, count: int) -> list[int]:
    """Up to `count` at which it will run: without those that a person skipped."""
    skipped = entry.cursor.skipped
    fires = each_upcoming(entry, now, count + len(skipped))
    return [*islice((fire for fire in fires if fire not in skipped), count)]


def next_fire(entry: Entry) -> int | None:
    """The next fire time. When the planner looks next may differ: the end of a pause, a nudge."""
    cursor = entry.cursor
    known = cursor.next_fire_time
    if cursor.state is JobState.ACTIVE and not cursor.nudged and known not in cursor.skipped:
        return known
    return next(iter(upcoming(entry, cursor.after, 1)), None)


def overdue(entry: Entry, now: int) -> int | None:
    """The fire time that no planner has answered although it has passed; None: all are answered."""
    cursor = entry.cursor
    fire = cursor.next_fire_time
    is_known = cursor.state is JobState.ACTIVE and not cursor.nudged
    return fire if is_known and fire is not None and fire < now else None


def due_or_upcoming(entry: Entry, now: int, count: int) -> list[int]:
    """What people are shown as next: an overdue fire time stays until a planner answers it."""
    late = overdue(entry, now)
    if late is None or not count:
        return upcoming(entry, now, count)
    return [late, *(each for each in upcoming(entry, now, count) if each != late)][:count]


def each_upcoming(entry: Entry, now: int, count: int) -> Iterator[int]:
    """Up to `count`: none while a pause has no end, one where the next counts from an end."""
    job, cursor = entry.job, entry.cursor
    trigger, since = job.trigger, now
    if cursor.state is JobState.PAUSED:
        until = cursor.pause.until if cursor.pause else None
        if until is None:
            return
        since = max(now, until - 1)
    if trigger.follows_finish:
        found = trigger.after(cursor.after) if cursor.nudged else cursor.next_fire_time
        known = cursor.state is JobState.ACTIVE and found is not None
        if known and found is not None and count:
            yield found
        return
    # What was planned ahead is counted as run already, and is still to come.
    ahead = trigger.between(since, cursor.after) if since < cursor.after else ()
    left = count
    if trigger.max_runs is not None:
        left = max(trigger.max_runs - cursor.runs, 0)
    if cursor.state not in {JobState.ACTIVE, JobState.PAUSED}:
        left = 0
    more = islice(_coming(entry, max(since, cursor.after)), min(left, count))
    yield from islice(chain(ahead, more), count)


def _coming(entry: Entry, since: int) -> Iterator[int]:
    """Fire times from an instant on; the first is not searched for where the cursor has it."""
    cursor = entry.cursor
    known = cursor.next_fire_time
    if (
        cursor.state is JobState.ACTIVE
        and not cursor.nudged
        and known is not None
        and known > since
    ):
        yield known
        since = known
    yield from entry.job.trigger.between(since, NEVER)


#: Why a job is paused that code declared before and declares no more.
GONE = "gone from code"


def stamped(job: Job) -> Job:
    """The job with a hash of its definition, to recognise it at the next start."""
    return replace(job, declared=_stamp(job))


def is_edited(job: Job) -> bool:
    """Whether a person changed what code declares; that wins until the code changes again."""
    return job.declared is not None and job.declared != _stamp(job)


def _stamp(job: Job) -> str:
    plain = copied(
        job,
        id="",
        trigger=without_days(job.trigger).bound(f"{job.project}/{job.name}"),
        declared=None,
        version=1,
        saved_at=0,
        created_at=0,
    )
    text = json.dumps(job_to_document(plain), sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
