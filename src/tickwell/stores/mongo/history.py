"""Executions on MongoDB."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from tickwell.domain.execution import LIVE, Execution, RangeSkip, State
from tickwell.domain.queue import LaneLength
from tickwell.ports.records import ExecutionFilter, Page, QueueLength
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
from tickwell.stores.mongo.listing import NEWEST, live, within_reach
from tickwell.stores.mongo.outbox import skip_of
from tickwell.stores.mongo.rows import Document, execution_of
from tickwell.stores.mongo.settling import MongoSettling
from tickwell.stores.mongo.workspace import Workspace
from tickwell.stores.page_cursor import require_execution_cursor
from tickwell.stores.sql.edges import executions_reach


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
        require_execution_cursor(cursor)
        matching, executions = _matching(where, cursor), self._database.executions
        reach, last = executions_reach(where), None
        if reach is None:
            found = executions.find(matching, {"attempts": 0}, sort=NEWEST, limit=limit + 1)
            docs = [doc async for doc in found]
        elif where.states is not None and where.states <= LIVE and where.job_id is None:
            codes = [STATE_CODE[state] for state in where.states]
            docs = await live(executions, matching, codes, limit + 1)
        else:
            walk = executions, _along(matching), NEWEST
            docs, last = await within_reach(walk, matching, reach, limit + 1)
        items = [execution_of(doc, attempts=False) for doc in docs[:limit]]
        last = docs[limit - 1] if len(docs) > limit else last
        return Page(items=items, cursor=None if last is None else last["_id"])

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

    @edge
    async def queue_lengths(self, now: int) -> list[QueueLength]:
        counted = await asyncio.gather(*(self._lengths(code, now) for code in range(FIRST_ENDED)))
        return [each for lengths in counted for each in lengths]

    async def _lengths(self, code: int, now: int) -> list[QueueLength]:
        due = {"$cond": [{"$lte": ["$run_at", now]}, 1, 0]}
        key = {"project": "$project", "queue": "$queue"}
        group = {"_id": key, "count": {"$sum": 1}, "due": {"$sum": due}}
        steps = [{"$match": _in_state(code, None)}, {"$group": group}]
        found = await self._database.executions.aggregate(steps)
        return [
            QueueLength(
                doc["_id"]["project"], doc["_id"]["queue"], STATES[code], doc["count"], doc["due"]
            )
            async for doc in found
        ]

    @edge
    async def lane_lengths(self, state: State, limit: int) -> list[LaneLength]:
        """A seek for each lane: from what is best in one to what is best in the next."""
        executions, found = self._database.executions, list[LaneLength]()
        in_state: Document = {"state": STATE_CODE[state]}
        beyond: list[Document] = [{"queue": _ANY}]
        while beyond:
            steps = (
                executions.find_one(in_state | where, _BEST, sort=_BY_LANE, hint="lane")
                for where in beyond
            )
            doc = next((doc for doc in await asyncio.gather(*steps) if doc is not None), None)
            if doc is None:
                break
            queue, ability = doc["queue"], doc["ability"]
            lane = in_state | {"queue": queue, "ability": ability}
            count = await executions.count_documents(lane, limit=limit, hint="lane")
            found.append(
                LaneLength(
                    queue=queue,
                    ability=ability,
                    state=state,
                    count=count,
                    project=doc["project"],
                    job_id=doc["job"],
                    job_version=doc["version"],
                    run_at=doc["run_at"],
                )
            )
            beyond = [{"queue": queue, "ability": {"$gt": ability}}, {"queue": {"$gt": queue}}]
        return found


#: What is told of the best of a lane, and the order of the index.
_BEST = dict.fromkeys(("queue", "ability", "project", "job", "version", "run_at"), 1)
_BY_LANE = [(name, 1) for name in ("state", "queue", "ability", "rank", "_id")]
#: What leads to the index that has all executions of a state.
_ANY = {"$gte": ""}
_REACH = {QUEUED: {"queue": _ANY}, RUNNING: {"worker": _ANY}}


def _in_state(code: int, project: str | None) -> Document:
    query: Document = {"state": code, **_REACH.get(code, {})}
    if project is not None or code >= FIRST_ENDED:
        query["project"] = _ANY if project is None else project
    return query


def _along(matching: Document) -> Document:
    """What an index can tell: one state that something ended in only without a job."""
    names = ["project", "job", "_id"]
    if "job" not in matching and isinstance(matching.get("state"), int):
        names.append("state")
    return {name: matching[name] for name in names if name in matching}


def _matching(where: ExecutionFilter, cursor: str | None) -> Document:
    query: dict[str, Any] = {}
    named = {"project": where.project, "job": where.job_id, "queue": where.queue}
    named["ability"] = where.ability
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
