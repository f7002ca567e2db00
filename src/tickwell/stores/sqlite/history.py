"""Executions on SQLite."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tickwell.domain.execution import LIVE, Execution, NewExecution, RangeSkip, State
from tickwell.domain.job import rank
from tickwell.domain.queue import LaneLength
from tickwell.ports.records import ExecutionFilter, Page, QueueLength
from tickwell.stores.page_cursor import require_execution_cursor
from tickwell.stores.sql.codec import DEAD, PARKED, QUEUED, RUNNING, STATES, skip_of
from tickwell.stores.sql.edges import executions_reach
from tickwell.stores.sql.executions import execution_of, lane_length_of, whole_execution
from tickwell.stores.sqlite.adding import add
from tickwell.stores.sqlite.base import SqliteBase
from tickwell.stores.sqlite.flow import Flow
from tickwell.stores.sqlite.listing import executions_edge, executions_query
from tickwell.stores.sqlite.session import SQL, Session
from tickwell.stores.sqlite.upkeep import drop_executions

_ONE = SQL["list_executions"].format(
    index="INDEXED BY execution_id",
    where="execution.id = ? AND execution.project = ?",
    order="execution.id",
)

#: Where the lanes of these states are found.
_LANES = {
    State.QUEUED: {"code": QUEUED, "index": "queue_claim"},
    State.PARKED: {"code": PARKED, "index": "queue_parked_lane"},
}


class SqliteHistory(SqliteBase):
    """`ports.store.HistoryStore`, but for workers."""

    async def add_executions(
        self, new: Sequence[NewExecution], now: int, horizon: int
    ) -> list[str]:
        return await self.writer.call(lambda session: add(session, self.cache, new, now, horizon))

    async def get_execution(self, project: str, id: str) -> Execution | None:
        def work(session: Session) -> tuple[Any, list[Any]]:
            row = session.connection.execute(_ONE, (id, project, 1)).fetchone()
            return row, session.rows("attempts", row[26]) if row else []

        row, attempts = await self.reader.call(work)
        if row is None:
            return None
        return whole_execution(row, attempts, row[27])

    async def list_executions(
        self, where: ExecutionFilter, cursor: str | None = None, limit: int = 100
    ) -> Page[Execution]:
        require_execution_cursor(cursor)
        # Live ones are gathered from narrow tables, which have no order to stop in.
        live = where.states is not None and where.states <= LIVE
        reach = None if live else executions_reach(where)

        def work(session: Session) -> tuple[list[Any], str | None]:
            edge = None
            if reach is not None:
                row = session.connection.execute(*executions_edge(where, cursor, reach)).fetchone()
                edge = row[0] if row else None
            query = executions_query(where, cursor, limit + 1, edge)
            return session.connection.execute(*query).fetchall(), edge

        rows, edge = await self.reader.call(work)
        items = [execution_of(row) for row in rows[:limit]]
        return Page(items=items, cursor=items[-1].id if len(rows) > limit else edge)

    async def list_skips(self, job_id: str, since: int, until: int) -> list[RangeSkip]:
        rows = await self.reader.call(
            lambda session: session.rows("list_skips", job_id, until, since)
        )
        return [skip_of(job_id, row) for row in rows]

    async def request_cancel(self, project: str, ids: Sequence[str], now: int) -> list[str]:
        asked = json.dumps(list(dict.fromkeys(ids)))

        def work(session: Session) -> list[str]:
            flow = Flow(session, self.cache)
            found = session.rows("live_in_project", asked, project)
            for key, _ in found:
                flow.cancel(key, now)
            flow.close()
            return [id for _, id in found]

        return await self.writer.call(work)

    async def revive(self, project: str, ids: Sequence[str], now: int) -> list[str]:
        asked = json.dumps(list(dict.fromkeys(ids)))

        def work(session: Session) -> list[str]:
            flow = Flow(session, self.cache)
            dead = session.rows("dead_in_project", asked, project)
            for key, _, job in dead:
                definition, _ = flow.jobs.current(job)
                session.run("keep_attempt", key)
                session.run("revive", now, key)
                session.run("queue_revived", rank(now, definition.priority), key)
                flow.ended[project, DEAD] -= 1
                row = flow.gates.load(key)
                if row is not None:
                    flow.admit(row, now, 0)
            flow.close()
            return [id for _, id, _ in dead]

        return await self.writer.call(work)

    async def purge(self, project: str, ids: Sequence[str], now: int) -> list[str]:
        asked = json.dumps(list(dict.fromkeys(ids)))

        def work(session: Session) -> list[str]:
            dead = session.rows("dead_to_purge", asked, project)
            drop_executions(session, [key for key, _ in dead])
            return [id for _, id in dead]

        return await self.writer.call(work)

    async def stats(self, project: str | None = None) -> dict[State, int]:
        def work(session: Session) -> dict[int, int]:
            counts = dict(session.rows("ended_counts", project, project))
            if project is not None:
                return counts | dict(session.rows("live_counts", project, project))
            running = session.value("running_count")
            return counts | dict(session.rows("pending_counts")) | {RUNNING: running}

        counts = await self.reader.call(work)
        return {state: counts.get(code, 0) for code, state in enumerate(STATES)}

    async def queue_lengths(self, now: int) -> list[QueueLength]:
        rows = await self.reader.call(lambda session: session.rows("queue_lengths", now, now))
        return [
            QueueLength(project, queue, STATES[code], *counts)
            for project, queue, code, *counts in rows
        ]

    async def lane_lengths(self, state: State, limit: int) -> list[LaneLength]:
        query = SQL["lane_lengths"].format(**_LANES[state])
        rows = await self.reader.call(
            lambda session: session.connection.execute(query, (limit,)).fetchall()
        )
        return [lane_length_of(row, state) for row in rows]
