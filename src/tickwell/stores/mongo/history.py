"""Executions on MongoDB."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from tickwell.domain.execution import Execution, RangeSkip, State
from tickwell.ports.records import ExecutionFilter, Page
from tickwell.stores.mongo.adding import MongoAdding
from tickwell.stores.mongo.codec import (
    FIRST_ENDED,
    KIND_CODE,
    QUEUED,
    RUNNING,
    STATE_CODE,
    STATES,
)
from tickwell.stores.mongo.errors import edge
from tickwell.stores.mongo.outbox import skip_of
from tickwell.stores.mongo.rows import Document, execution_of
from tickwell.stores.mongo.settling import MongoSettling
from tickwell.stores.mongo.workspace import Workspace


class MongoHistory(MongoAdding, MongoSettling):
    """`ports.store.HistoryStore`, but for workers."""

    @edge
    async def get_execution(self, project: str, id: str) -> Execution | None:
        doc = await self._database.executions.find_one({"_id": id, "project": project})
        return None if doc is None else execution_of(doc)

    @edge
    async def list_executions(
        self, where: ExecutionFilter, cursor: str | None = None, limit: int = 100
    ) -> Page[Execution]:
        found = self._database.executions.find(
            _matching(where, cursor), {"attempts": 0}, sort=[("_id", -1)], limit=limit + 1
        )
        items = [execution_of(doc, attempts=False) async for doc in found]
        more = len(items) > limit
        items = items[:limit]
        return Page(items=items, cursor=items[-1].id if more else None)

    @edge
    async def list_skips(self, job_id: str, since: int, until: int) -> list[RangeSkip]:
        found = self._database.skips.find(
            {"job": job_id, "first": {"$lt": until}, "last": {"$gte": since}},
            sort=[("first", 1), ("last", 1)],
        )
        return [skip_of(doc) async for doc in found]

    @edge
    async def request_cancel(self, project: str, ids: Sequence[str], now: int) -> list[str]:
        return await self.on_rows(
            ids, now, lambda space, some: space.spec.request_cancel(project, some, now)
        )

    @edge
    async def revive(self, project: str, ids: Sequence[str], now: int) -> list[str]:
        return await self.on_rows(
            ids, now, lambda space, some: space.spec.revive(project, some, now)
        )

    @edge
    async def purge(self, project: str, ids: Sequence[str], now: int) -> list[str]:
        async def drop(space: Workspace, some: list[str]) -> list[str]:
            rows = [space.tables.rows[id] for id in dict.fromkeys(some) if id in space.tables.rows]
            dead = [
                row.execution.id
                for row in rows
                if row.execution.project == project and row.execution.state is State.DEAD
            ]
            for id in dead:
                space.drop_row(id)
            return dead

        return await self.on_rows(ids, now, drop)

    @edge
    async def stats(self, project: str | None = None) -> dict[State, int]:
        executions = self._database.executions
        counts = [executions.count_documents(_in_state(code, project)) for code in range(9)]
        counted = dict(zip(STATES, await asyncio.gather(*counts), strict=True))
        return {state: counted[state] for state in State}


#: What leads to the index that has all executions of a state.
_ANY = {"$gte": ""}
_REACH = {QUEUED: {"queue": _ANY}, RUNNING: {"worker": _ANY}}


def _in_state(code: int, project: str | None) -> Document:
    query: Document = {"state": code, **_REACH.get(code, {})}
    if project is not None or code >= FIRST_ENDED:
        query["project"] = _ANY if project is None else project
    return query


def _matching(where: ExecutionFilter, cursor: str | None) -> Document:
    query: dict[str, Any] = {}
    named = {"project": where.project, "job": where.job_id, "queue": where.queue}
    query |= {name: value for name, value in named.items() if value is not None}
    if where.states is not None:
        codes = sorted(STATE_CODE[state] for state in where.states)
        query["state"] = codes[0] if len(codes) == 1 else {"$in": codes}
        if codes and codes[0] >= FIRST_ENDED and "project" not in query and "job" not in query:
            query["project"] = _ANY
    if where.kind is not None:
        query["kind"] = KIND_CODE[where.kind]
    if cursor is not None:
        query["_id"] = {"$lt": cursor}
    span = {"$gte": where.since, "$lt": where.until}
    if span != {"$gte": None, "$lt": None}:
        query["fire_time"] = {name: value for name, value in span.items() if value is not None}
    if where.due_before is not None:
        query["run_at"] = {"$lt": where.due_before}
    return query
