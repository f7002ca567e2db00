"""Single occurrences of a job that people name by their fire time."""

from __future__ import annotations

from collections import deque

from tickwell.clock import to_datetime
from tickwell.domain.job import Entry, JobState
from tickwell.domain.policy import DAY, HOUR, MINUTE
from tickwell.errors import InvalidInput, WrongState

#: How far back the fire time before an instant is looked for, the nearest first.
_BACK = (MINUTE, HOUR, DAY, 32 * DAY, 366 * DAY)


def is_fire_time(entry: Entry, at: int) -> bool:
    """Whether the job's trigger fires at this instant, as far as that is known."""
    trigger, cursor = entry.job.trigger, entry.cursor
    if trigger.follows_finish:
        # Planned, it is the last one that was answered; to come, the cursor has it.
        return at == cursor.after or (at == cursor.next_fire_time and not cursor.nudged)
    return trigger.after(at - 1) == at


def require_to_come(entry: Entry, at: int, now: int) -> None:
    """Refuse an occurrence that is not to come any more."""
    if at <= now:
        raise WrongState(
            "occurrence",
            f"{entry.job.name} at {instant_text(at)}",
            "past",
            "one that is still to come can be skipped, or its skip undone",
        )


def require_fire_time(entry: Entry, at: int, now: int) -> None:
    """Refuse an instant at which the job does not fire, and name the nearest at which it does."""
    job, cursor = entry.job, entry.cursor
    if cursor.state is JobState.FINISHED and at > cursor.after:
        raise WrongState("job", job.name, "finished", "a job with upcoming fire times can skip one")
    if is_fire_time(entry, at):
        return
    near = [instant_text(each) for each in _nearest(entry, at, now)]
    raise InvalidInput(
        f"{job.name} does not fire at {instant_text(at)}",
        field="at",
        hint=f"The nearest fire times: {', '.join(near)}" if near else "None is known",
    )


def instant_text(at: int) -> str:
    """The instant for a message, as options take it: 2026-11-19T09:00:00Z."""
    text = to_datetime(at).isoformat(timespec="milliseconds" if at % 1000 else "seconds")
    return text.replace("+00:00", "Z")


def _nearest(entry: Entry, at: int, now: int) -> list[int]:
    """The fire times before and after an instant that are still to come."""
    trigger, cursor = entry.job.trigger, entry.cursor
    if trigger.follows_finish:
        upcoming = None if cursor.nudged else cursor.next_fire_time
        return [] if upcoming is None or upcoming <= now else [upcoming]
    found: list[int] = []
    for back in _BACK:
        start = max(now, at - back)
        before = deque(trigger.between(start, at - 1), maxlen=1)
        found += before
        if before or start == now:
            break
    later = trigger.after(at)
    return found if later is None else [*found, later]
