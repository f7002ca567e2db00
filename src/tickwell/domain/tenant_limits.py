"""How much of the workers one project may use, so that hanging jobs leave room for others."""

from __future__ import annotations

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


def seats(slots: int, *, part: float, running: int, workers: int) -> int:
    """How many of the slots of one worker a project may take; one at least.

    `part` is the part of the slots, 1 all of them. `running` is the limit of the project in all
    workers together, 0 none: each worker keeps its part of that, rounded up.
    """
    most = NO_LIMIT if part >= 1 else int(slots * part)
    if running:
        most = min(most, -(-running // workers))
    return max(most, 1)
