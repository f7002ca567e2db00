"""The fire times of a job that are still to come, as far as they are known."""

from __future__ import annotations

from itertools import islice

from tickwell.clock import NEVER
from tickwell.domain.job import Entry, JobState


def upcoming(entry: Entry, now: int, count: int) -> list[int]:
    """Up to `count`: none while a pause has no end, one where the next counts from an end."""
    job, cursor = entry.job, entry.cursor
    trigger, since = job.trigger, now
    if cursor.state is JobState.PAUSED:
        until = cursor.pause.until if cursor.pause else None
        if until is None:
            return []
        since = max(now, until - 1)
    if trigger.follows_finish:
        found = trigger.after(cursor.after) if cursor.nudged else cursor.next_fire_time
        known = cursor.state is JobState.ACTIVE and found is not None
        return [found][:count] if known and found is not None else []
    # What was planned ahead is counted as run already, and is still to come.
    ahead = list(trigger.between(since, cursor.after))
    left = count
    if trigger.max_runs is not None:
        left = max(trigger.max_runs - cursor.runs, 0)
    if cursor.state not in {JobState.ACTIVE, JobState.PAUSED}:
        left = 0
    more = islice(trigger.between(max(since, cursor.after), NEVER), min(left, count))
    return [*ahead, *more][:count]
