"""Claims on MongoDB: find, take what is still queued, read what was taken."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tickwell.domain.ability import CALL, handler_of
from tickwell.domain.execution import Claim
from tickwell.domain.policy import MINUTE
from tickwell.ports.records import Claimable, ClaimRequest
from tickwell.stores.mongo.codec import QUEUED, RUNNING
from tickwell.stores.mongo.errors import edge
from tickwell.stores.mongo.jobs import CLAIMED, claim_of
from tickwell.stores.mongo.liveness import MongoLiveness
from tickwell.stores.mongo.rows import Document
from tickwell.stores.sql.claims import up_to

#: The bytes of a document's own payload.
_SIZE = {"$strLenBytes": {"$ifNull": ["$payload", ""]}}
#: What a claim has to know before it takes anything.
_CLAIMABLE = {"job": 1, "version": 1, "size": _SIZE}


class MongoClaiming(MongoLiveness):
    """The part of `ports.store.QueueStore` that hands over."""

    @edge
    async def claim(self, request: ClaimRequest) -> list[Claim]:
        worker = await self._database.workers.find_one({"_id": request.worker}, {"lost": 1})
        if worker is None or worker.get("lost"):
            return []
        if request.repeated:
            held = await self._held(request)
            if held:
                return await self.claims_of(held, request.now)
        return await self._take_queued(request)

    @edge
    async def claimable(self, request: ClaimRequest) -> list[Claimable]:
        found = await self._claimable(request, request.limit, {"queue": 1, "rank": 1})
        return [Claimable(doc["_id"], doc["queue"], doc["rank"]) for doc in found]

    async def _take_queued(self, request: ClaimRequest) -> list[Claim]:
        """Take what is still queued; where others were faster, what comes after it."""
        taken, bytes = list[Claim](), request.most_bytes
        while True:
            readable = await self._readable(request, request.limit - len(taken))
            found = [doc["_id"] for doc in up_to(bytes, readable, lambda doc: doc["size"])]
            if not found:
                return taken
            await self._database.executions.update_many(
                {"_id": {"$in": found}, "state": QUEUED, "frozen": None}, _taking(request)
            )
            mine = await self._taken(found, request)
            # By the definition in force: an edit may have come between.
            wanted = ((doc["job"], doc["version"]) for doc in mine)
            jobs = await self.definitions(wanted, request.now)
            taken += [claim_of(doc, jobs[doc["job"]]) for doc in mine if doc["job"] in jobs]
            if len(mine) == len(found):
                return taken
            bytes = request.most_bytes - sum(claim.size for claim in taken)

    async def _readable(self, request: ClaimRequest, limit: int) -> list[Document]:
        """What may be handed over; where all of it is unreadable, what comes after it."""
        while found := await self._claimable(request, limit):
            wanted = ((doc["job"], doc["version"]) for doc in found)
            jobs = await self.definitions(wanted, request.now)
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
        found = self._database.executions.find(where, fields, sort=order, limit=limit)
        return [doc async for doc in found]

    async def _held(self, request: ClaimRequest) -> list[Document]:
        where = {"state": RUNNING, "worker": request.worker, "claim": request.claim_id}
        found = self._database.executions.find(where, CLAIMED, sort=[("_id", 1)])
        return [doc async for doc in found]

    async def _taken(self, ids: list[str], request: ClaimRequest) -> list[Document]:
        where = {"_id": {"$in": ids}, "state": RUNNING, "claim": request.claim_id}
        found = self._database.executions.find(where, CLAIMED)
        return sorted(
            [doc async for doc in found if doc["worker"] == request.worker],
            key=lambda doc: (doc["rank"], doc["_id"]),
        )


def _any_project(shared: str) -> re.Pattern[str]:
    """The abilities of all projects that a shared handler will do for."""
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
