"""Executions on Redis."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tickwell.domain.execution import (
    LIVE,
    Execution,
    NewExecution,
    RangeSkip,
    State,
    shown_attempts,
)
from tickwell.domain.queue import LaneLength
from tickwell.errors import NotFound
from tickwell.ports.records import ExecutionFilter, Page, QueueLength
from tickwell.stores.page_cursor import require_execution_cursor
from tickwell.stores.redis.client import Client
from tickwell.stores.redis.firing import touching
from tickwell.stores.redis.rows import dumps, execution_argument, present
from tickwell.stores.sql.filters import executions_reach
from tickwell.stores.sql.rows.codec import KIND_CODE, STATE_CODE, STATES, clean
from tickwell.stores.sql.rows.executions import attempt_of, execution_of, lane_length_of

#: Executions that one script examines for a list, in addition to the requested ones.
SCAN_BATCH = 500


class RedisHistory:
    """`ports.store.HistoryStore`, except for workers."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def add_executions(
        self, new: Sequence[NewExecution], now: int, horizon: int
    ) -> list[str]:
        rows = dumps([execution_argument(one) for one in new])
        answers = await self.client.answer("add_executions", now, horizon, rows)
        if isinstance(answers, int):
            raise NotFound("job", new[answers].job.name)
        self.client.bell.ring()
        return list(answers)

    async def get_execution(self, project: str, id: str) -> Execution | None:
        found = await self.client.call("get_execution", clean(project) or "", clean(id) or "")
        if found is None:
            return None
        execution = execution_of(json.loads(found[0]))
        execution.attempts = shown_attempts(map(attempt_of, json.loads(found[1])))
        return execution

    async def list_executions(
        self, where: ExecutionFilter, cursor: str | None = None, limit: int = 100
    ) -> Page[Execution]:
        require_execution_cursor(cursor)
        source, wanted = _source(where), _script_filter(where)
        begin, found = "+" if cursor is None else f"({clean(cursor)}", list[Execution]()
        end, left, looks = None, executions_reach(where) or sys.maxsize, min(limit + 1, SCAN_BATCH)
        while len(found) <= limit and left:
            looks = min(left, looks)
            end, rows = await self.client.call("list_executions", source, begin, looks, wanted)
            found += [execution_of(row) for row in json.loads(rows)]
            if end is None:
                break
            begin, left, looks = f"({end.decode()}", left - looks, SCAN_BATCH
        items = found[:limit]
        if len(found) > limit:
            return Page(items=items, cursor=items[-1].id)
        return Page(items=items, cursor=None if end is None else end.decode())

    async def list_skips(self, job_id: str, since: int, until: int) -> list[RangeSkip]:
        [skips] = await touching(self.client, [(clean(job_id) or "", since, until - 1)])
        return sorted(skips, key=lambda skip: (skip.first, skip.last))

    async def request_cancel(self, project: str, ids: Sequence[str], now: int) -> list[str]:
        return await self._moved("request_cancel", project, ids, now)

    async def revive(self, project: str, ids: Sequence[str], now: int) -> list[str]:
        return await self._moved("revive", project, ids, now)

    async def purge(self, project: str, ids: Sequence[str], now: int) -> list[str]:
        return await self._moved("purge", project, ids, now)

    async def _moved(self, name: str, project: str, ids: Sequence[str], now: int) -> list[str]:
        asked = dumps([clean(id) for id in dict.fromkeys(ids)])
        moved: list[str] = await self.client.answer(name, now, clean(project) or "", asked)
        self.client.bell.ring()
        return moved

    async def stats(self, project: str | None = None) -> dict[State, int]:
        counts = await self.client.call("stats", clean(project) or "")
        return dict(zip(STATES, counts, strict=True))

    async def queue_lengths(self, now: int) -> list[QueueLength]:
        queued = await self.client.answer("queued_lengths", now)
        found, offset = list(queued or ()), 0
        while True:  # in batches: a script that reads a million rows would block the server
            offset, *rows = await self.client.answer(
                "queue_lengths", now, offset, SCAN_BATCH, "" if queued is not None else "queued"
            )
            found += rows
            if not offset:
                return _sums(found)

    async def lane_lengths(self, state: State, limit: int) -> list[LaneLength]:
        rows = await self.client.answer("lane_lengths", STATE_CODE[state], limit)
        return [lane_length_of(row, state) for row in sorted(rows)]


def _sums(rows: Sequence[Sequence[Any]]) -> list[QueueLength]:
    counted: Counter[tuple[str, str, int]] = Counter()
    due: Counter[tuple[str, str, int]] = Counter()
    for project, queue, code, count, count_due in rows:
        counted[project, queue, code] += count
        due[project, queue, code] += count_due
    return [
        QueueLength(project, queue, STATES[code], count, due[project, queue, code])
        for (project, queue, code), count in counted.items()
    ]


def _source(where: ExecutionFilter) -> str:
    """The narrowest indexes that hold every match of a filter."""
    states = where.states
    if where.job_id is not None:
        if states is not None and states <= LIVE:
            return dumps({"key": "live", "prefix": f"{clean(where.job_id)}\0"})
        return dumps({"key": f"job:{clean(where.job_id)}"})
    if states is not None and State.SUCCEEDED not in states:
        codes = sorted(STATE_CODE[state] for state in states)
        return dumps({"indexes": [f"state:{code}:" for code in codes]})
    return dumps({"indexes": ["project:"]})


def _script_filter(where: ExecutionFilter) -> str:
    """A filter as an argument of the script."""
    states = None if where.states is None else [STATE_CODE[state] for state in where.states]
    return dumps(
        present(
            (
                clean(where.project),
                clean(where.job_id),
                states,
                None if where.kind is None else KIND_CODE[where.kind],
                clean(where.queue),
                where.since,
                where.until,
                where.due_before,
                clean(where.ability),
            )
        )
    )
