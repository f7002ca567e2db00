"""The history of a run, read when it is over."""

from pathlib import Path

from tests.faults.history import Call, History, Range, Row, Try
from tests.processes import journal
from tickwell.domain.execution import ENDED, LIVE, Execution, Kind
from tickwell.ports.records import ExecutionFilter
from tickwell.ports.store import Store

FOREVER = 1 << 60


async def read_history(
    store: Store, fires: dict[str, list[int]], calls: Path, requests: tuple[str, ...] = ()
) -> History:
    """What the oracle, the store and the handlers say."""
    executions = await all_executions(store)
    ranges = [each for job in fires for each in await store.list_skips(job, 0, FOREVER)]
    return History(
        fires=fires,
        requests=list(requests),
        rows=[await _row(store, each) for each in executions],
        ranges=[Range(each.job_id, each.first, each.last, each.count) for each in ranges],
        calls=[
            Call(line.execution, line.attempt, line.at, line.slack, line.process)
            for line in journal.read(calls)
            if line.what == "begin"
        ],
    )


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
    """Whether that many executions have ended and none is under way."""
    stats = await store.stats()
    ended = sum(stats.get(state, 0) for state in ENDED)
    return ended >= expected and not any(stats.get(state, 0) for state in LIVE)


async def _row(store: Store, execution: Execution) -> Row:
    whole = await store.get_execution(execution.project, execution.id)
    assert whole is not None
    return Row(
        id=whole.id,
        job=whole.job_id,
        fire_time=whole.fire_time,
        state=str(whole.state),
        attempt=whole.attempt,
        tries=tuple(Try(each.number, str(each.outcome)) for each in whole.attempts),
        requested=whole.kind is Kind.REQUEST,
    )
