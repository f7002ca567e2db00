"""The queue on MongoDB: promote, claim, settle."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

from tickwell.clock import NEVER
from tickwell.domain.ability import CALL, handler_of
from tickwell.domain.execution import PENDING, Claim, Reason, State
from tickwell.domain.policy import MINUTE
from tickwell.ports.records import Claimable, ClaimRequest, Ended, Promoted, Wakeup
from tickwell.stores.memory.tables import Row
from tickwell.stores.mongo.client import CLAIMED, Part, claim_of
from tickwell.stores.mongo.codec import ADDING, QUEUED, RUNNING, WAITING
from tickwell.stores.mongo.database import Collection as Documents
from tickwell.stores.mongo.database import Document
from tickwell.stores.mongo.errors import translate_errors
from tickwell.stores.mongo.workspace.concurrency_gates import Moved
from tickwell.stores.mongo.workspace.transaction import Transactions
from tickwell.stores.mongo.workspace.workspace import Workspace
from tickwell.stores.sql.flow.claiming import up_to

#: The bytes of a document's own payload.
_SIZE = {"$strLenBytes": {"$ifNull": ["$payload", ""]}}
#: What a claim needs to know of an execution before it takes it.
_CLAIMABLE = {"job": 1, "version": 1, "size": _SIZE}
#: Executions to examine, with their jobs.
Found = dict[str, str]
Find = Callable[[int], Awaitable[Found]]
Step = Callable[[Workspace, Row], None]


class MongoQueue(Part):
    """The part of `ports.store.QueueStore` that moves executions to their workers."""

    def __init__(self, transactions: Transactions) -> None:
        super().__init__(transactions.client)
        self.transactions = transactions

    @translate_errors
    async def promote(self, now: int, horizon: int, limit: int) -> Promoted:
        counts: Counter[State] = Counter()
        met: Ended = Counter()

        def expire(space: Workspace, row: Row) -> None:
            is_expired = row.expires_at is not None and row.expires_at <= now
            if is_expired and row.execution.state in PENDING:
                space.flow.end(row, State.SKIPPED, Reason.EXPIRED, now)

        def admit(space: Workspace, row: Row) -> None:
            # An earlier one may have cancelled it, or transferred its permit to it.
            if row.execution.state is State.WAITING and row.look_at <= now + horizon:
                space.flow.admit(row, now, horizon)

        expired = await self._all(
            limit, partial(self._expired, now), expire, now, (counts, Counter())
        )
        ended = counts[State.SKIPPED]
        due = partial(self._due_rows, now, now + horizon)
        waiting = await self._all(limit, due, admit, now, (counts, met))
        return Promoted(
            queued=counts[State.QUEUED],
            blocked=counts[State.BLOCKED],
            skipped=counts[State.SKIPPED],
            expired=ended,
            ended=met,
            more=limit in {expired, waiting},
        )

    async def _all(
        self, limit: int, find: Find, step: Step, now: int, counts: tuple[Counter[State], Ended]
    ) -> int:
        """Examine what is found; if another process was faster, what follows."""
        seen = 0
        while found := await find(limit - seen):
            mine = await self._examine(found, step, now, counts)
            seen += mine
            if mine == len(found):
                break
        return seen

    async def _examine(
        self, jobs: Found, step: Step, now: int, counts: tuple[Counter[State], Ended]
    ) -> int:
        """Take a step with each execution; how many were not taken by another process."""
        seen: set[str] = set()
        ends: dict[str, Ended] = {}

        def mine(space: Workspace) -> list[str]:
            return [id for id in jobs if jobs[id] in space.asked]

        async def read(space: Workspace) -> None:
            ids = mine(space)
            await self.transactions.read_rows(space, ids)
            await self.transactions.read_gates(space, len(ids) + 2)

        async def change(space: Workspace) -> None:
            rows = [space.tables.rows[id] for id in mine(space) if id in space.tables.rows]
            for id in {row.execution.job_id for row in rows}:
                ends[id] = Counter()
            for row in rows:
                with space.flow.counting_ends() as ended:
                    step(space, row)
                ends[row.execution.job_id] += ended

        def after(space: Workspace, missed: set[str], at_gates: Moved) -> None:
            for id in [id for id in mine(space) if jobs[id] not in missed]:
                moved = space.moved(id)
                counts[1].update(ends.pop(jobs[id], {}))
                if moved is not None:
                    counts[0][at_gates.get(id, moved)] += 1
                if moved is not None or jobs[id] in space.unreadable or space.is_waiting(id):
                    seen.add(id)

        await self.transactions.run(set(jobs.values()), now, read, change, after)
        return len(seen)

    async def _expired(self, now: int, limit: int) -> Found:
        """Executions past their time to live."""
        where: Document = {"expires_at": {"$lte": now}, "state": {"$lt": RUNNING}}
        return await self._find(where, "expires_at", now, limit)

    async def _due_rows(self, now: int, end: int, limit: int) -> Found:
        return await self._find({"state": WAITING, "look_at": {"$lte": end}}, "look_at", now, limit)

    async def _find(self, where: Document, order: str, now: int, limit: int) -> Found:
        if limit < 1:
            return {}
        left_out = self.cache.unreadable.keys(now)
        if left_out:
            where["job"] = {"$nin": left_out}
        found = self.database.executions.find(
            where, {"job": 1}, sort=[(order, 1), ("_id", 1)], limit=limit
        )
        return {doc["_id"]: doc["job"] async for doc in found}

    @translate_errors
    async def claim(self, request: ClaimRequest) -> list[Claim]:
        worker = await self.database.workers.find_one({"_id": request.worker}, {"lost": 1})
        if worker is None or worker.get("lost"):
            return []
        if request.repeated:
            held = await self._held(request)
            if held:
                return await self.client.claims(held, request.now)
        return await self._take_queued(request)

    @translate_errors
    async def claimable(self, request: ClaimRequest) -> list[Claimable]:
        found = await self._claimable(request, request.limit, {"queue": 1, "rank": 1})
        return [Claimable(doc["_id"], doc["queue"], doc["rank"]) for doc in found]

    async def _take_queued(self, request: ClaimRequest) -> list[Claim]:
        """Claim what is still queued; if another worker was faster, what follows."""
        taken, bytes = list[Claim](), request.most_bytes
        while True:
            readable = await self._readable(request, request.limit - len(taken))
            found = [doc["_id"] for doc in up_to(bytes, readable, lambda doc: doc["size"])]
            if not found:
                return taken
            await self.database.executions.update_many(
                {"_id": {"$in": found}, "state": QUEUED, "frozen": None}, _taking(request)
            )
            mine = await self._taken(found, request)
            # With the current definition: the job may have been edited in between.
            wanted = ((doc["job"], doc["version"]) for doc in mine)
            jobs = await self.client.definitions(wanted, request.now)
            taken += [claim_of(doc, jobs[doc["job"]]) for doc in mine if doc["job"] in jobs]
            if len(mine) == len(found):
                return taken
            bytes = request.most_bytes - sum(claim.size for claim in taken)

    async def _readable(self, request: ClaimRequest, limit: int) -> list[Document]:
        """Claimable executions of readable jobs; if all are unreadable, what follows."""
        while found := await self._claimable(request, limit):
            wanted = ((doc["job"], doc["version"]) for doc in found)
            jobs = await self.client.definitions(wanted, request.now)
            if jobs:
                return [doc for doc in found if doc["job"] in jobs]
        return []

    async def _claimable(
        self, request: ClaimRequest, limit: int, fields: Mapping[str, Any] = _CLAIMABLE
    ) -> list[Document]:
        where: dict[str, Any] = {
            "state": QUEUED,
            "queue": {"$in": [*dict.fromkeys(request.queues)]},
            "run_at": {"$lte": request.now + request.lead},
            "ability": {"$in": [*request.abilities, *map(_any_project, request.shared)]},
            "frozen": None,
            "$or": [{"expires_at": None}, {"expires_at": {"$gt": request.now}}],
        }
        left_out = [*self.cache.unreadable.keys(request.now), *request.left_out]
        if left_out:
            where["job"] = {"$nin": left_out}
        if request.ids is not None:
            where["_id"] = {"$in": [*request.ids]}
        order = [("rank", 1), ("_id", 1)]
        found = self.database.executions.find(where, fields, sort=order, limit=limit)
        return [doc async for doc in found]

    async def _held(self, request: ClaimRequest) -> list[Document]:
        where = {"state": RUNNING, "worker": request.worker, "claim": request.claim_id}
        found = self.database.executions.find(where, CLAIMED, sort=[("_id", 1)])
        return [doc async for doc in found]

    async def _taken(self, ids: list[str], request: ClaimRequest) -> list[Document]:
        where = {"_id": {"$in": ids}, "state": RUNNING, "claim": request.claim_id}
        found = self.database.executions.find(where, CLAIMED)
        return sorted(
            [doc async for doc in found if doc["worker"] == request.worker],
            key=lambda doc: (doc["rank"], doc["_id"]),
        )

    @translate_errors
    async def settle(
        self, ids: Sequence[str], states: Collection[State], to: State, reason: str, now: int
    ) -> list[str]:
        return await self.transactions.on_executions(
            ids, now, lambda space, some: space.spec.settle(some, states, to, reason, now)
        )

    @translate_errors
    async def next_wakeup(self, now: int, queues: Collection[str] | None = None) -> Wakeup:
        jobs, executions = self.database.jobs, self.database.executions
        unreadable = self.cache.unreadable
        readable: Document = {"job": {"$nin": unreadable.keys(now)}}
        planned: Document = {"_id": {"$nin": unreadable.keys(now, planning=True)}}
        run: dict[str, Any] = {"state": QUEUED, "run_at": {"$gt": now}}
        if queues is not None:
            run["queue"] = {"$in": [*queues]}
        fire, promote, expire, start = await asyncio.gather(
            _first(jobs, "next", {"next": {"$gt": 0}, "state": {"$gt": ADDING}, **planned}),
            _first(
                executions, "look_at", {"state": WAITING, "look_at": {"$lt": NEVER}, **readable}
            ),
            _first(
                executions,
                "expires_at",
                {"expires_at": {"$gt": 0}, "state": {"$lt": RUNNING}, **readable},
            ),
            _first(executions, "run_at", run),
        )
        return Wakeup(
            fire=fire, promote=promote, expire=expire, run=start, unreadable=unreadable.news()
        )


def _any_project(shared: str) -> re.Pattern[str]:
    """The abilities of all projects that a shared handler serves."""
    handler = handler_of(shared)
    project = "[^/]+/" if "/" in handler else "([^/]+/)?"
    return re.compile(f"^{CALL}{project}{re.escape(handler)}$")


def _taking(request: ClaimRequest) -> list[dict[str, Any]]:
    due = {"$max": [request.now, "$run_at"]}
    return [
        {
            "$set": {
                "state": RUNNING,
                "attempt": {"$add": [{"$ifNull": ["$attempt", 0]}, 1]},
                "charged": {"$add": [{"$ifNull": ["$charged", 0]}, 1]},
                "rev": {"$add": ["$rev", 1]},
                "deadline": {"$add": [due, "$hard", MINUTE]},
                "worker": {"$literal": request.worker},
                "claim": {"$literal": request.claim_id},
                # Of the attempt before.
                "started_at": "$$REMOVE",
            }
        }
    ]


async def _first(collection: Documents, field: str, where: Document) -> int | None:
    """The smallest value of a field."""
    doc = await collection.find_one(where, {field: 1}, sort=[(field, 1)])
    return None if doc is None else int(doc[field])
