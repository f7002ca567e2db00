"""What a change of a job means for those of its executions that have not started."""

from __future__ import annotations

from collections.abc import Sequence

from tickwell.domain.change import Change, Pending
from tickwell.stores.sql.codec import FIRE


def is_taken_back(facts: Sequence[int], made: Change, now: int) -> bool:
    """A fire that was not tried before; by an edit only if the new definition answers for it.

    The facts: kind, fire time, and how many attempts there were before.
    """
    kind, fire_time, earlier = facts
    if made.pending is Pending.RECALL:
        return kind == FIRE and fire_time in made.recalled
    if kind != FIRE or earlier > 0:
        return False
    return made.pending is not Pending.RESTAMP or fire_time > now
