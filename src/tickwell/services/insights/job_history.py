"""The latest executions of a job, and what they say about it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from tickwell.domain.execution import Execution, State
from tickwell.ports.records import ExecutionFilter
from tickwell.ports.store import HistoryStore

#: Executions that are looked at; of each job in a list.
LATEST, LATEST_FEW = 60, 8


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


async def latest_states(
    store: HistoryStore, project: str, ids: Sequence[str]
) -> dict[str, list[State]]:
    """How the latest few executions of each of these jobs went, newest first."""
    pages = await asyncio.gather(
        *(
            store.list_executions(ExecutionFilter(project=project, job_id=id), limit=LATEST_FEW)
            for id in ids
        )
    )
    return {id: [each.state for each in page.items] for id, page in zip(ids, pages, strict=True)}


def _at(values: Sequence[int], part: float) -> int | None:
    return values[min(int(len(values) * part), len(values) - 1)] if values else None
