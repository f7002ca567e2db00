"""The history of a run, read when it is over."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from tests.faults.history import Call, History, Range, Row, Try
from tests.processes import journal
from tests.processes.jobs import uuid_of
from tickwell.domain.execution import ENDED, LIVE, Execution, Kind, State
from tickwell.ports.records import ExecutionFilter, JobFilter
from tickwell.ports.store import Store

T = TypeVar("T")

FOREVER = 1 << 60
#: Questions under way at once; a server's answer takes longer than a file's.
TOGETHER = 8


async def read_history(
    store: Store,
    fires: dict[str, list[int]],
    calls: Path,
    requests: tuple[str, ...] = (),
) -> History:
    """What the oracle, the store and the handlers say."""
    executions = await all_executions(store)
    names = {uuid_of(name): name for name in fires}
    skips = await _together([store.list_skips(id, 0, FOREVER) for id in names])
    ranges = [
        Range(names.get(each.job_id, each.job_id), each.first, each.last, each.count)
        for found in skips
        for each in found
        if each.count  # else it answers nothing: what is there has to have rows
    ]
    return History(
        fires=fires,
        requests=list(requests),
        rows=await _together([_row(store, each, names) for each in executions]),
        ranges=ranges,
        calls=[
            Call(line.execution, line.attempt, line.at, line.slack, line.process)
            for line in journal.read(calls)
            if line.what == "begin"
        ],
    )


async def _together(questions: list[Coroutine[Any, Any, T]]) -> list[T]:
    """The answers in order, a few questions at a time."""
    answers: list[T] = []
    for begin in range(0, len(questions), TOGETHER):
        answers += await asyncio.gather(*questions[begin : begin + TOGETHER])
    return answers


async def all_executions(store: Store, where: ExecutionFilter | None = None) -> list[Execution]:
    found: list[Execution] = []
    cursor = None
    while True:
        page = await store.list_executions(where or ExecutionFilter(), cursor, limit=1000)
        found += page.items
        cursor = page.cursor
        if cursor is None:
            return found


async def is_quiet(store: Store, expected: int) -> bool:
    """Whether that many executions have ended, none is under way, and none is to come."""
    # First, what is to come: what it becomes is seen by the second look.
    if (await store.list_jobs(JobFilter(fires_before=FOREVER), limit=1)).items:
        return False
    stats = await store.stats()
    ended = sum(stats.get(state, 0) for state in ENDED)
    return ended >= expected and not any(stats.get(state, 0) for state in LIVE)


async def _row(store: Store, execution: Execution, names: dict[str, str]) -> Row:
    return Row(
        id=execution.id,
        job=names.get(execution.job_id, execution.job_id),
        fire_time=execution.fire_time,
        state=str(execution.state),
        attempt=execution.attempt,
        tries=await _tries(store, execution),
        requested=execution.kind is Kind.REQUEST,
        reason=execution.reason,
        ended=execution.ended_at,
    )


async def _tries(store: Store, execution: Execution) -> tuple[Try, ...]:
    if execution.state is State.SUCCEEDED and execution.attempt == 1:
        # Half of the time that it takes to judge a burst of 10,000 went into asking for these.
        return (Try(1, "succeeded"),)
    whole = await store.get_execution(execution.project, execution.id)
    assert whole is not None
    return tuple(
        Try(each.number, str(each.outcome), each.started_at is not None) for each in whole.attempts
    )
