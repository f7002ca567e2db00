"""Executions: requested, listed, cancelled, revived, counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tickwell.domain.execution import Execution, NewExecution, RangeSkip, State
from tickwell.domain.queue import LaneLength
from tickwell.errors import StoreError
from tickwell.ids import is_id
from tickwell.ports.records import ExecutionFilter, Page, QueueLength
from tickwell.stores.page_cursor import require_execution_cursor
from tickwell.stores.sql.flow.adding import Adding
from tickwell.stores.sql.flow.pruning import purge_dead
from tickwell.stores.sql.flow.recording import IdTaken
from tickwell.stores.sql.flow.settling import Settling
from tickwell.stores.sql.parts import D, Part
from tickwell.stores.sql.rows.codec import RUNNING, STATE_CODE, STATES, clean, skip_of
from tickwell.stores.sql.rows.executions import execution_of, lane_length_of, whole_execution
from tickwell.stores.sql.session import Session


class SqlHistory(Part[D]):
    """Records and lists executions."""

    async def add_executions(
        self, new: Sequence[NewExecution], now: int, horizon: int
    ) -> list[str]:
        async def add(*, careful: bool) -> list[str]:
            return await self.database.write(
                lambda session: Adding(session, self.cache, now, horizon).add(new, careful=careful)
            )

        try:
            answers = await add(careful=False)
        except IdTaken:
            answers = await add(careful=True)
        except StoreError as error:
            if not self.context.errors.is_taken(error.__cause__):
                raise
            answers = await add(careful=True)
        self.context.ring()
        return answers

    async def get_execution(self, project: str, id: str) -> Execution | None:
        if not is_id(id):
            return None

        async def work(session: Session) -> tuple[Any, list[Any]]:
            query = self.context.listing.one_query(session.sql)
            found = await session.query(query, id, clean(project))
            return (found[0], await session.rows("attempts", id)) if found else (None, [])

        row, attempts = await self.database.read(work)
        if row is None:
            return None
        return whole_execution(row, attempts, row[26])

    async def list_executions(
        self, where: ExecutionFilter, cursor: str | None = None, limit: int = 100
    ) -> Page[Execution]:
        require_execution_cursor(cursor)
        sql, reach = self.database.sql, self.context.listing.executions_reach(where)
        listing = self.context.listing

        async def work(session: Session) -> tuple[list[Any], str | None]:
            edge = None
            if reach is not None:
                query, parameters = listing.executions_edge(sql, where, cursor, reach)
                found = await session.query(query, *parameters)
                edge = found[0][0] if found else None
            query, parameters = listing.executions_query(sql, where, cursor, limit + 1, edge)
            return await session.query(query, *parameters), edge

        rows, edge = await self.database.read_one(work)
        items = [execution_of(row) for row in rows[:limit]]
        return Page(items=items, cursor=items[-1].id if len(rows) > limit else edge)

    async def list_skips(self, job_id: str, since: int, until: int) -> list[RangeSkip]:
        if not is_id(job_id):
            return []
        rows = await self.database.read_one(
            lambda session: session.rows("list_skips", job_id, until, since)
        )
        return [skip_of(job_id, row) for row in rows]

    async def request_cancel(self, project: str, ids: Sequence[str], now: int) -> list[str]:
        cancelled = await self.database.write(
            lambda session: Settling(session, self.cache, now).cancel(project, ids)
        )
        self.context.ring()
        return cancelled

    async def revive(self, project: str, ids: Sequence[str], now: int) -> list[str]:
        revived = await self.database.write(
            lambda session: Settling(session, self.cache, now).revive(project, ids)
        )
        self.context.ring()
        return revived

    async def purge(self, project: str, ids: Sequence[str], now: int) -> list[str]:
        return await self.database.write(
            lambda session: purge_dead(session, self.cache, project, ids)
        )

    async def stats(self, project: str | None = None) -> dict[State, int]:
        async def work(session: Session) -> dict[int, int]:
            counts = dict(await session.rows("ended_counts", clean(project)))
            if project is not None:
                return counts | dict(await session.rows("live_counts", clean(project)))
            running = await session.value("running_count")
            return counts | dict(await session.rows("pending_counts")) | {RUNNING: running}

        counts = await self.database.survey(work)
        return {state: counts.get(code, 0) for code, state in enumerate(STATES)}

    async def queue_lengths(self, now: int) -> list[QueueLength]:
        rows = await self.database.survey(lambda session: session.rows("queue_lengths", now))
        return [
            QueueLength(project, queue, STATES[code], *counts)
            for project, queue, code, *counts in rows
        ]

    async def lane_lengths(self, state: State, limit: int) -> list[LaneLength]:
        code = STATE_CODE[state]
        rows = await self.database.read(
            lambda session: self.context.listing.lane_lengths(session, code, limit)
        )
        # No order comes by itself: new statistics make a server join the other way round.
        lanes = (lane_length_of(row, state) for row in rows)
        return sorted(lanes, key=lambda lane: (lane.queue, lane.ability))
