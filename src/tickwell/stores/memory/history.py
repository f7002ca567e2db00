"""Executions in memory."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from copy import copy, deepcopy
from dataclasses import replace
from operator import itemgetter

from tickwell.domain.execution import (
    LIVE,
    PENDING,
    Execution,
    NewExecution,
    RangeSkip,
    State,
    shown_attempts,
)
from tickwell.domain.gate import Overlap
from tickwell.domain.job import JobState, rank
from tickwell.domain.queue import LaneLength
from tickwell.domain.unique import Same
from tickwell.errors import NotFound
from tickwell.ports.records import ExecutionFilter, Page, QueueLength
from tickwell.stores.memory.flow import Flow
from tickwell.stores.memory.tables import Row, own
from tickwell.stores.page_cursor import require_execution_cursor


class MemoryHistory:
    """`ports.store.HistoryStore`, except for workers."""

    def __init__(self, flow: Flow) -> None:
        self.tables = flow.tables
        self.flow = flow

    async def add_executions(
        self, new: Sequence[NewExecution], now: int, horizon: int
    ) -> list[str]:
        for one in new:
            entry = self.tables.jobs.get(one.job.id)
            if entry is None or entry.cursor.state is JobState.DELETED:
                raise NotFound("job", one.job.name)
        return [self._add_execution(one, now, horizon) for one in new]

    def _add_execution(self, new: NewExecution, now: int, horizon: int) -> str:
        if new.key is not None:
            known = self.tables.keys.get((new.job.id, new.key))
            if known is not None:
                return known
        if new.unique is not None and new.id not in self.tables.rows:
            same = new.unique.answer(self._same_runs(new.job.id, new.unique.name), now)
            if same is not None:
                if new.unique.debounced:
                    self.flow.replace(self.tables.rows[same.id], new, now, horizon)
                return same.id
        self.flow.record(new, now, horizon)
        return new.id

    def _same_runs(self, job_id: str, name: str) -> Iterator[Same]:
        for id in self.tables.same.get((job_id, name), ()):
            one = self.tables.rows[id].execution
            yield Same(
                one.created_at,
                id,
                is_pending=one.state in PENDING,
                is_running=one.state is State.RUNNING,
                is_untried=one.is_untried,
            )

    async def get_execution(self, project: str, id: str) -> Execution | None:
        row = self.tables.rows.get(id)
        if row is None or row.execution.project != project:
            return None
        execution = deepcopy(row.execution)
        execution.attempts = shown_attempts(execution.attempts)
        return execution

    async def list_executions(
        self, where: ExecutionFilter, cursor: str | None = None, limit: int = 100
    ) -> Page[Execution]:
        require_execution_cursor(cursor)
        matching = sorted(
            (
                id
                for id, row in self.tables.rows.items()
                if (cursor is None or id < cursor) and _matches(row.execution, where)
            ),
            reverse=True,
        )
        items = [
            replace(row.execution, attempts=[], payload=own(row.execution.payload))
            for row in (self.tables.rows[id] for id in matching[:limit])
        ]
        for item in items:
            item.result = own(item.result)
        return Page(items=items, cursor=items[-1].id if len(matching) > limit else None)

    async def list_skips(self, job_id: str, since: int, until: int) -> list[RangeSkip]:
        skips = self.tables.skips.get(job_id, [])
        touching = [copy(skip) for skip in skips if skip.first < until and skip.last >= since]
        return sorted(touching, key=lambda skip: (skip.first, skip.last))

    async def request_cancel(self, project: str, ids: Sequence[str], now: int) -> list[str]:
        found = [row for row in self._in_project(project, ids) if row.execution.state in LIVE]
        for row in found:
            self.flow.cancel(row, now)
        return [row.execution.id for row in found]

    async def revive(self, project: str, ids: Sequence[str], now: int) -> list[str]:
        dead = [row for row in self._in_project(project, ids) if self._may_revive(row)]
        for row in dead:
            execution = row.execution
            execution.charged = execution.lost = execution.returned = 0
            execution.ended_at = execution.reason = execution.worker = None
            execution.run_at, row.look_at, row.expires_at = now, now, None
            row.rank = rank(now, self.tables.jobs[execution.job_id].job.priority)
            if row.overlap is not Overlap.ALLOW:
                # A person asked for it: it waits instead of being skipped again.
                row.overlap = Overlap.QUEUE_ALL
            self.flow.admit(row, now, 0)
        return [row.execution.id for row in dead]

    def _may_revive(self, row: Row) -> bool:
        job_state = self.tables.jobs[row.execution.job_id].cursor.state
        return row.execution.state is State.DEAD and job_state is not JobState.DELETED

    async def purge(self, project: str, ids: Sequence[str], now: int) -> list[str]:
        found = self._in_project(project, ids)
        dead = [row.execution.id for row in found if row.execution.state is State.DEAD]
        for id in dead:
            self.tables.drop_row(id)
        return dead

    def _in_project(self, project: str, ids: Sequence[str]) -> list[Row]:
        rows = (self.tables.rows.get(id) for id in dict.fromkeys(ids))
        return [row for row in rows if row is not None and row.execution.project == project]

    async def stats(self, project: str | None = None) -> dict[State, int]:
        counted = Counter(
            row.execution.state
            for row in self.tables.rows.values()
            if project in {None, row.execution.project}
        )
        return {state: counted[state] for state in State}

    async def queue_lengths(self, now: int) -> list[QueueLength]:
        counted: Counter[tuple[str, str, State]] = Counter()
        due: Counter[tuple[str, str, State]] = Counter()
        for row in self.tables.rows.values():
            one = row.execution
            if one.state in LIVE:
                counted[one.project, one.queue, one.state] += 1
                due[one.project, one.queue, one.state] += one.run_at <= now
        return [QueueLength(*key, count, due[key]) for key, count in counted.items()]

    async def lane_lengths(self, state: State, limit: int) -> list[LaneLength]:
        lanes = defaultdict[tuple[str, str], list[Row]](list)
        for row in self.tables.rows.values():
            if row.execution.state is state:
                lanes[row.execution.queue, row.execution.ability].append(row)
        return [_length(rows, limit) for _, rows in sorted(lanes.items(), key=itemgetter(0))]


def _length(rows: Sequence[Row], limit: int) -> LaneLength:
    first = min(rows, key=lambda row: (row.rank, row.execution.id)).execution
    return LaneLength(
        queue=first.queue,
        ability=first.ability,
        state=first.state,
        count=min(len(rows), limit),
        project=first.project,
        job_id=first.job_id,
        job_version=first.job_version,
        run_at=first.run_at,
    )


def _matches(execution: Execution, where: ExecutionFilter) -> bool:
    return (
        where.project in {None, execution.project}
        and where.job_id in {None, execution.job_id}
        and (where.states is None or execution.state in where.states)
        and where.kind in {None, execution.kind}
        and where.queue in {None, execution.queue}
        and where.ability in {None, execution.ability}
        and (where.since is None or execution.fire_time >= where.since)
        and (where.until is None or execution.fire_time < where.until)
        and (where.due_before is None or execution.run_at < where.due_before)
    )
