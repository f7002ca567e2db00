"""Fairness between projects: who adds much at once stands behind who adds little."""

from __future__ import annotations

#: Milliseconds that each execution moves the next one of its project back: up to 100 a second of
#: one project keep their place.
SPREAD = 10
#: Milliseconds that a project is moved back at most: 360,000 executions. Without a bound, a
#: tenant that was busy all day would come after all others the next day.
FURTHEST = 3_600_000
_MOST = 10_000


class Fairness:
    """Remembers how far each project is ahead of the clock with what it added.

    A process remembers what it added itself: with several, each lets a project have its share. It
    changes the order in the queue only, never when something may start.
    """

    def __init__(self) -> None:
        self._next: dict[str, int] = {}

    def delay(self, project: str, now: int) -> int:
        """How far behind its due time an execution ranks that is added now.

        By how much was added, not by when that is due: what was missed in an outage would stand
        behind all that is planned ahead, and a run asked for tomorrow would move others back.
        """
        at = min(max(self._next.get(project, now), now), now + FURTHEST)
        if len(self._next) >= _MOST:
            self._next = {each: ahead for each, ahead in self._next.items() if ahead > now}
        self._next[project] = at + SPREAD
        return at - now


#: Where a project's own limits are kept, as a record of the project: the kind, which is the key.
LIMITS_KIND = "limits"
#: Where projects are kept that somebody made: the kind, and the project of the records.
PROJECT_KIND = "project"
PLATFORM_PROJECT = "_platform"
#: Projects that were deleted a moment ago: jobs may still come for them, from processes that have
#: not heard of it. A record of the same project as theirs, by name, for so many milliseconds.
DELETED_KIND, DELETED_FOR = "project-deleted", 600_000
#: The project that is there without being made.
FIRST_PROJECT = "default"
#: More than any worker has.
NO_LIMIT = 1 << 30


def seats(capacity: int, part: float) -> int:
    """How much of one worker's capacity a project may take, one at least: `part` of it, 1 all."""
    return NO_LIMIT if part >= 1 else max(int(capacity * part), 1)
