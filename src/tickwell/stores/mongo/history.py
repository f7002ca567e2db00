"""Executions on MongoDB: added, listed, cancelled, revived.

Requested runs of one job are one write of that job. Runs of several jobs are recorded as a batch
first; from then on any process may complete it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import astuple, fields
from typing import Any

from tickwell.domain.execution import (
    LIVE,
    Execution,
    NewExecution,
    RangeSkip,
    State,
    shown_attempts,
)
from tickwell.domain.job import Job, JobState
from tickwell.domain.queue import LaneLength
from tickwell.domain.unique import Unique
from tickwell.errors import NotFound
from tickwell.ports.records import ExecutionFilter, Page, QueueLength
from tickwell.stores.mongo.client import Part
from tickwell.stores.mongo.codec import (
    DELETED,
    FIRST_ENDED,
    KIND_CODE,
    KINDS,
    OVERLAP_CODE,
    OVERLAPS,
    QUEUED,
    RUNNING,
    STATE_CODE,
    STATES,
    clean,
    from_json,
    to_json,
)
from tickwell.stores.mongo.database import Collection, Document, Order, new_op, scan_page
from tickwell.stores.mongo.documents import WHOLE, execution_of
from tickwell.stores.mongo.errors import translate_errors
from tickwell.stores.mongo.workspace.concurrency_gates import Moved
from tickwell.stores.mongo.workspace.outbox import skip_of
from tickwell.stores.mongo.workspace.sweep import Abandoned
from tickwell.stores.mongo.workspace.transaction import Transactions
from tickwell.stores.mongo.workspace.workspace import Workspace
from tickwell.stores.page_cursor import require_execution_cursor
from tickwell.stores.sql.filters import executions_reach

#: Fields of a run that are stored without conversion.
_CONVERTED = {"job", "kind", "overlap", "unique"}
_PLAIN = [each.name for each in fields(NewExecution) if each.name not in _CONVERTED]
#: Lists have neither the attempts nor what they have done.
_LISTED = {"attempts": 0, **WHOLE}
NEWEST: Order = [("_id", -1)]
#: The index of all executions in a live state; `still` has the other live states.
_LIVE = {QUEUED: "claim", RUNNING: "worker"}


class MongoHistory(Part):
    """`ports.store.HistoryStore`, except for workers."""

    def __init__(self, transactions: Transactions) -> None:
        super().__init__(transactions.client)
        self.transactions = transactions

    @translate_errors
    async def add_executions(
        self, new: Sequence[NewExecution], now: int, horizon: int
    ) -> list[str]:
        jobs = {one.job.id: one.job for one in new}
        if len(jobs) <= 1:
            return await self._add(new, now, horizon)
        await self._check(new)
        batch = new_op()
        runs = [_document_of(one) for one in new]
        await self.database.batches.insert_one(
            {"_id": batch, "kind": "runs", "now": now, "horizon": horizon, "runs": runs}
        )
        ids = await self._add(new, now, horizon, is_recorded=True)
        await self.database.batches.delete_one({"_id": batch})
        return ids

    async def _check(self, new: Sequence[NewExecution]) -> None:
        """Raise `NotFound` for a job that is deleted, before anything is written."""
        ids = [*{one.job.id for one in new}]
        where = {"_id": {"$in": ids}, "state": {"$gte": 0, "$lt": DELETED}}
        known = {doc["_id"] async for doc in self.database.jobs.find(where, {"_id": 1})}
        for one in new:
            if one.job.id not in known:
                raise NotFound("job", one.job.name)

    async def _add(
        self, new: Sequence[NewExecution], now: int, horizon: int, *, is_recorded: bool = False
    ) -> list[str]:
        answers: dict[str, str] = {}

        async def read(space: Workspace) -> None:
            space.require_readable()
            some = [one for one in new if one.job.id in space.tables.jobs]
            await self.transactions.read_rows(space, [one.id for one in some])
            await self._read_keys(space, some)
            await self._read_same(space, some)
            await self.transactions.read_gates(space, len(some) + 2, some)

        async def change(space: Workspace) -> None:
            some = [one for one in new if one.id not in answers]
            if is_recorded:
                # Runs of a job that was deleted in between would have been cancelled with it.
                answers.update((one.id, one.id) for one in some if _is_gone(space, one.job))
                some = [one for one in some if one.id not in answers]
            found = await space.spec.add_executions(some, now, horizon)
            space.answers = dict(zip((one.id for one in some), found, strict=True))

        def after(space: Workspace, missed: set[str], _: Moved) -> None:
            added = {one.id for one in new if one.job.id not in missed}
            answers.update((id, known) for id, known in space.answers.items() if id in added)

        await self.transactions.run({one.job.id for one in new}, now, read, change, after)
        return [answers[one.id] for one in new]

    async def _read_keys(self, space: Workspace, new: Sequence[NewExecution]) -> None:
        by_job: dict[str, list[str | None]] = {}
        for one in new:
            if one.key is not None:
                by_job.setdefault(one.job.id, []).append(clean(one.key))
        for job_id, keys in by_job.items():
            found = self.database.executions.find({"job": job_id, "key": {"$in": keys}}, WHOLE)
            for doc in [doc async for doc in found]:
                space.add_row(doc)

    async def _read_same(self, space: Workspace, new: Sequence[NewExecution]) -> None:
        """Read the runs that may answer a request: those that are live, and the newest."""
        asked = {(one.job.id, one.unique.name, one.unique.within) for one in new if one.unique}
        for job_id, name, within in sorted(asked):
            same = {"job": job_id, "unique": name}
            live = {**same, "state": {"$lt": FIRST_ENDED}}
            found = self.database.executions.find(live, WHOLE, hint="same_live")
            docs = [doc async for doc in found]
            if within:
                since = {**same, "created_at": {"$gt": space.now - within}}
                newest = self.database.executions.find(
                    since, WHOLE, sort=[("created_at", -1)], limit=1, hint="same"
                )
                docs += [doc async for doc in newest]
            for doc in docs:
                space.add_row(doc)

    async def sweep(self, seen: Abandoned) -> None:
        """Complete abandoned batches of runs."""
        found = [doc async for doc in self.database.batches.find({"kind": "runs"})]
        old = seen.among([doc["_id"] for doc in found])
        for doc in found:
            if doc["_id"] in old:
                await self._complete(doc)

    async def _complete(self, doc: Document) -> None:
        space = Workspace(self.cache, doc["now"])
        await self.transactions.read_jobs(space, {run["job"] for run in doc["runs"]})
        jobs = {id: entry.job for id, entry in space.tables.jobs.items()}
        new = [_new_of(run, jobs[run["job"]]) for run in doc["runs"] if run["job"] in jobs]
        await self._add(new, doc["now"], doc["horizon"], is_recorded=True)
        await self.database.batches.delete_one({"_id": doc["_id"]})

    @translate_errors
    async def get_execution(self, project: str, id: str) -> Execution | None:
        doc = await self.database.executions.find_one({"_id": id, "project": project}, WHOLE)
        if doc is None:
            return None
        execution = execution_of(doc)
        execution.attempts = shown_attempts(execution.attempts)
        return execution

    @translate_errors
    async def list_executions(
        self, where: ExecutionFilter, cursor: str | None = None, limit: int = 100
    ) -> Page[Execution]:
        require_execution_cursor(cursor)
        matching, executions = _matching(where, cursor), self.database.executions
        reach, last = executions_reach(where), None
        if reach is None:
            found = executions.find(matching, _LISTED, sort=NEWEST, limit=limit + 1)
            docs = [doc async for doc in found]
        elif where.states is not None and where.states <= LIVE and where.job_id is None:
            codes = [STATE_CODE[state] for state in where.states]
            docs = await _live(executions, matching, codes, limit + 1)
        else:
            scan = executions, _indexed(matching), NEWEST
            docs, last = await scan_page(scan, matching, reach, limit + 1)
        items = [execution_of(doc, attempts=False) for doc in docs[:limit]]
        last = docs[limit - 1] if len(docs) > limit else last
        return Page(items=items, cursor=None if last is None else last["_id"])

    @translate_errors
    async def list_skips(self, job_id: str, since: int, until: int) -> list[RangeSkip]:
        found = self.database.skips.find(
            {"job": job_id, "first": {"$lt": until}, "last": {"$gte": since}},
            sort=[("first", 1), ("last", 1)],
        )
        return [skip_of(doc) async for doc in found]

    @translate_errors
    async def request_cancel(self, project: str, ids: Sequence[str], now: int) -> list[str]:
        return await self.transactions.on_executions(
            ids, now, lambda space, some: space.spec.request_cancel(project, some, now)
        )

    @translate_errors
    async def revive(self, project: str, ids: Sequence[str], now: int) -> list[str]:
        return await self.transactions.on_executions(
            ids, now, lambda space, some: space.spec.revive(project, some, now)
        )

    @translate_errors
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

        return await self.transactions.on_executions(ids, now, drop)

    @translate_errors
    async def stats(self, project: str | None = None) -> dict[State, int]:
        executions = self.database.executions
        counts = [executions.count_documents(_in_state(code, project)) for code in range(9)]
        counted = dict(zip(STATES, await asyncio.gather(*counts), strict=True))
        return {state: counted[state] for state in State}

    @translate_errors
    async def queue_lengths(self, now: int) -> list[QueueLength]:
        counted = await asyncio.gather(*(self._lengths(code, now) for code in range(FIRST_ENDED)))
        return [each for lengths in counted for each in lengths]

    async def _lengths(self, code: int, now: int) -> list[QueueLength]:
        due = {"$cond": [{"$lte": ["$run_at", now]}, 1, 0]}
        key = {"project": "$project", "queue": "$queue"}
        group = {"_id": key, "count": {"$sum": 1}, "due": {"$sum": due}}
        steps = [{"$match": _in_state(code, None)}, {"$group": group}]
        found = await self.database.executions.aggregate(steps)
        return [
            QueueLength(
                doc["_id"]["project"], doc["_id"]["queue"], STATES[code], doc["count"], doc["due"]
            )
            async for doc in found
        ]

    @translate_errors
    async def lane_lengths(self, state: State, limit: int) -> list[LaneLength]:
        """A seek for each lane: from what is best in one to what is best in the next."""
        executions, found = self.database.executions, list[LaneLength]()
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
#: Selects the index that has all executions of a state.
_ANY = {"$gte": ""}
_REACH = {QUEUED: {"queue": _ANY}, RUNNING: {"worker": _ANY}}


def _in_state(code: int, project: str | None) -> Document:
    query: Document = {"state": code, **_REACH.get(code, {})}
    if project is not None or code >= FIRST_ENDED:
        query["project"] = _ANY if project is None else project
    return query


def _indexed(matching: Document) -> Document:
    """The fields of a filter that are in an index: the state only if it is one, without a job."""
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


async def _live(
    executions: Collection, matching: Document, codes: Sequence[int], limit: int
) -> list[Document]:
    """The newest executions in these states, from the indexes of live ones: history is not read."""

    async def of(code: int) -> list[Document]:
        found = executions.find(
            matching | {"state": code},
            _LISTED,
            sort=NEWEST,
            limit=limit,
            hint=_LIVE.get(code, "still"),
        )
        return [doc async for doc in found]

    parts = await asyncio.gather(*map(of, codes))
    docs = {doc["_id"]: doc for part in parts for doc in part}
    return [docs[id] for id in sorted(docs, reverse=True)[:limit]]


def _is_gone(space: Workspace, job: Job) -> bool:
    entry = space.tables.jobs.get(job.id)
    return entry is None or entry.cursor.state is JobState.DELETED


def _document_of(new: NewExecution) -> Document:
    doc: dict[str, Any] = {name: getattr(new, name) for name in _PLAIN}
    doc |= {"job": new.job.id, "kind": KIND_CODE[new.kind], "overlap": OVERLAP_CODE[new.overlap]}
    if new.unique is not None:
        doc["unique"] = [*astuple(new.unique)]
    return doc | {"payload": to_json(new.payload), "key": clean(new.key), "gate": clean(new.gate)}


def _new_of(doc: Document, job: Job) -> NewExecution:
    values = {name: doc[name] for name in _PLAIN}
    values |= {"payload": from_json(doc["payload"]), "job": job}
    if "unique" in doc:
        values["unique"] = Unique(*doc["unique"])
    return NewExecution(**values, kind=KINDS[doc["kind"]], overlap=OVERLAPS[doc["overlap"]])
