"""How far a list walks: past so many that do not match, and no further."""

from __future__ import annotations

from tickwell.domain.execution import ENDED, State
from tickwell.domain.job import JobState
from tickwell.ports.records import ExecutionFilter, JobFilter

_USUAL = frozenset(JobState) - {JobState.DELETED}
_RARE = ENDED - {State.SUCCEEDED}


def jobs_reach(where: JobFilter) -> int | None:
    """How many jobs may be looked at; None: nearly all match, or an index has those that do."""
    picks = where.queue, where.tag, where.search
    matches_most = where.states >= _USUAL and picks == (None, None, None)
    if where.fires_before is not None or (matches_most and where.auto_remove is not False):
        return None
    return where.look


def executions_reach(where: ExecutionFilter) -> int | None:
    """The same for executions."""
    picks = where.kind, where.queue, where.since, where.until, where.due_before
    if picks == (None,) * 5 and (where.states is None or _is_indexed(where)):
        return None
    return where.look


def _is_indexed(where: ExecutionFilter) -> bool:
    """What did not go well has an index for each of its states."""
    states = where.states
    return where.job_id is None and states is not None and len(states) == 1 and states <= _RARE
