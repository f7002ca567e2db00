"""Executions on Redis."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tickwell.domain.execution import Execution, NewExecution, RangeSkip, State
from tickwell.domain.queue import LaneLength
from tickwell.errors import NotFound
from tickwell.ports.records import ExecutionFilter, Page, QueueLength
from tickwell.stores.page_cursor import require_execution_cursor
from tickwell.stores.redis.base import RedisBase
from tickwell.stores.redis.listing import execution_source, execution_wanted
from tickwell.stores.redis.rows import dumps, execution_given
from tickwell.stores.redis.skipping import touching
from tickwell.stores.sql.codec import STATE_CODE, STATES
from tickwell.stores.sql.edges import executions_reach
from tickwell.stores.sql.executions import attempt_of, execution_of, lane_length_of
from tickwell.stores.sql.text import clean

#: Executions that one script looks at for a list, beside those that are asked for.
STRETCH = 500


class RedisHistory(RedisBase):
    """`ports.store.HistoryStore`, but for workers."""

    async def add_executions(
        self, new: Sequence[NewExecution], now: int, horizon: int
    ) -> list[str]:
        given = dumps([execution_given(one) for one in new])
        answers = await self.answer("add_executions", now, horizon, given)
        if isinstance(answers, int):
            raise NotFound("job", new[answers].job.name)
        self.bell.ring()
        return list(answers)

    async def get_execution(self, project: str, id: str) -> Execution | None:
        found = await self.client.call("get_execution", clean(project) or "", clean(id) or "")
        if found is None:
            return None
        execution = execution_of(json.loads(found[0]))
        execution.attempts = [attempt_of(row) for row in json.loads(found[1])]
        return execution

    async def list_executions(
        self, where: ExecutionFilter, cursor: str | None = None, limit: int = 100
    ) -> Page[Execution]:
        require_execution_cursor(cursor)
        source, wanted = execution_source(where), execution_wanted(where)
        begin, found = "+" if cursor is None else f"({clean(cursor)}", list[Execution]()
        end, left, looks = None, executions_reach(where) or sys.maxsize, min(limit + 1, STRETCH)
        while len(found) <= limit and left:
            looks = min(left, looks)
            end, rows = await self.client.call("list_executions", source, begin, looks, wanted)
            found += [execution_of(row) for row in json.loads(rows)]
            if end is None:
                break
            begin, left, looks = f"({end.decode()}", left - looks, STRETCH
        items = found[:limit]
        if len(found) > limit:
            return Page(items=items, cursor=items[-1].id)
        return Page(items=items, cursor=None if end is None else end.decode())

    async def list_skips(self, job_id: str, since: int, until: int) -> list[RangeSkip]:
        [skips] = await touching(self, [(clean(job_id) or "", since, until - 1)])
        return sorted(skips, key=lambda skip: (skip.first, skip.last))

    async def request_cancel(self, project: str, ids: Sequence[str], now: int) -> list[str]:
        return await self._moved("request_cancel", project, ids, now)

    async def revive(self, project: str, ids: Sequence[str], now: int) -> list[str]:
        return await self._moved("revive", project, ids, now)

    async def purge(self, project: str, ids: Sequence[str], now: int) -> list[str]:
        return await self._moved("purge", project, ids, now)

    async def _moved(self, name: str, project: str, ids: Sequence[str], now: int) -> list[str]:
        asked = dumps([clean(id) for id in dict.fromkeys(ids)])
        moved: list[str] = await self.answer(name, now, clean(project) or "", asked)
        self.bell.ring()
        return moved

    async def stats(self, project: str | None = None) -> dict[State, int]:
        counts = await self.client.call("stats", clean(project) or "")
        return dict(zip(STATES, counts, strict=True))

    async def queue_lengths(self, now: int) -> list[QueueLength]:
        queued = await self.answer("queued_lengths", now)
        found, offset = list(queued or ()), 0
        while True:  # in stretches: a script that reads a million rows would hold everything up
            offset, *rows = await self.answer(
                "queue_lengths", now, offset, STRETCH, "" if queued is not None else "queued"
            )
            found += rows
            if not offset:
                return _summed(found)

    async def lane_lengths(self, state: State, limit: int) -> list[LaneLength]:
        rows = await self.answer("lane_lengths", STATE_CODE[state], limit)
        return [lane_length_of(row, state) for row in sorted(rows)]


def _summed(rows: Sequence[Sequence[Any]]) -> list[QueueLength]:
    counted: Counter[tuple[str, str, int]] = Counter()
    due: Counter[tuple[str, str, int]] = Counter()
    for project, queue, code, count, count_due in rows:
        counted[project, queue, code] += count
        due[project, queue, code] += count_due
    return [
        QueueLength(project, queue, STATES[code], count, due[project, queue, code])
        for (project, queue, code), count in counted.items()
    ]
