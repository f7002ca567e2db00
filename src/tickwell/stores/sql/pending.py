"""What a change of a job means for those of its executions that have not started."""

from __future__ import annotations

from collections.abc import Sequence

from tickwell.domain.change import Change, Pending
from tickwell.stores.sql.codec import FIRE


def is_taken_back(facts: Sequence[int], made: Change, now: int) -> bool:
    """A fire that was not tried before; by an edit only if the new definition answers for it.

    The facts: kind, fire time, how many attempts there were before, and of them how many were
    not given back at once.
    """
    kind, fire_time, earlier, tried = facts
    if made.pending is Pending.RECALL:
        return kind == FIRE and fire_time in made.recalled and not tried
    if kind != FIRE or earlier > 0:
        return False
    return made.pending is not Pending.RESTAMP or fire_time > now
