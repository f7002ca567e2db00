"""The latest executions of a job, and what they say about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tickwell.domain.execution import Execution, State
from tickwell.ports.records import ExecutionFilter
from tickwell.ports.store import HistoryStore

#: Executions that are looked at.
LATEST = 60


@dataclass(slots=True, kw_only=True)
class JobHistory:
    """Newest first, with the durations of those that ran."""

    executions: Sequence[Execution]
    #: Milliseconds that half, and 95 in 100, took at most; None: none of them ran.
    p50: int | None
    p95: int | None
    #: Of those that ended: how many in a hundred succeeded.
    success: float | None


async def job_history(store: HistoryStore, project: str, job_id: str) -> JobHistory:
    """One page of history, summed up."""
    where = ExecutionFilter(project=project, job_id=job_id)
    found = (await store.list_executions(where, limit=LATEST)).items
    took = sorted(
        each.ended_at - each.started_at
        for each in found
        if each.ended_at is not None and each.started_at is not None
    )
    ended = [each for each in found if each.state in {State.SUCCEEDED, State.DEAD}]
    good = sum(each.state is State.SUCCEEDED for each in ended)
    return JobHistory(
        executions=found,
        p50=_at(took, 0.5),
        p95=_at(took, 0.95),
        success=100 * good / len(ended) if ended else None,
    )


def _at(values: Sequence[int], part: float) -> int | None:
    return values[min(int(len(values) * part), len(values) - 1)] if values else None
