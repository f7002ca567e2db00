"""Workers on MongoDB: heartbeats, lost workers and their orphaned executions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pymongo import ReturnDocument, UpdateOne

from tickwell.domain.execution import Claim, Start
from tickwell.domain.rate import is_rate
from tickwell.domain.worker import DEFAULT_BEAT, Liveness, Owned, Pulse, Refusal, Worker
from tickwell.stores.mongo.client import Part
from tickwell.stores.mongo.codec import RUNNING, clean
from tickwell.stores.mongo.database import Document
from tickwell.stores.mongo.documents import WHOLE
from tickwell.stores.mongo.errors import translate_errors
from tickwell.stores.mongo.workspace.sweep import Sweeper


class MongoLiveness(Part):
    """The part of `ports.store.QueueStore` that is about workers."""

    def __init__(self, sweeper: Sweeper) -> None:
        super().__init__(sweeper.client)
        self.sweeper = sweeper

    @translate_errors
    async def beat(self, worker: Worker, now: int, *, leaving: bool = False) -> Pulse:
        workers = self.database.workers
        doc: Document = await workers.find_one_and_update(  # type: ignore[assignment]
            {"_id": worker.id},
            {"$inc": {"beat": 1}, "$set": {**_fields(worker), "seen_at": now}},
            upsert=True,
            return_document=ReturnDocument.AFTER,
        )
        found = self.database.executions.find(
            {"state": RUNNING, "worker": worker.id},
            {"attempt": 1, "claim": 1, "cancel": 1, "reason": 1},
            sort=[("_id", 1)],
        )
        owned = [
            Owned(
                id=one["_id"],
                attempt=one["attempt"],
                claim_id=one.get("claim", ""),
                cancel=one.get("cancel", False),
                why=one.get("reason"),
            )
            async for one in found
        ]
        if leaving and not owned:
            await workers.delete_one({"_id": worker.id})
        return Pulse(worker=worker.id, beat=doc["beat"], lost=doc.get("lost", False), owned=owned)

    @translate_errors
    async def declare_lost(self, worker_id: str, beat: int, now: int) -> bool:
        workers = self.database.workers
        await workers.update_one({"_id": worker_id, "beat": beat}, {"$set": {"lost": True}})
        doc = await workers.find_one({"_id": worker_id}, {"lost": 1})
        return doc is None or doc.get("lost", False)

    @translate_errors
    async def orphans(self, now: int, limit: int) -> list[Claim]:
        await self.sweeper.sweep(now)
        alive = [doc["_id"] async for doc in self.database.workers.find({"lost": None}, {"_id": 1})]
        executions = self.database.executions
        found: dict[str, Document] = {}
        readable = {"state": RUNNING, "job": {"$nin": self.cache.unreadable.keys(now)}}
        for where in ({"worker": {"$nin": alive}}, {"deadline": {"$lt": now}}):
            docs = executions.find({**readable, **where}, WHOLE, sort=[("_id", 1)], limit=limit)
            found |= {doc["_id"]: doc async for doc in docs}
        return await self.client.claims([found[id] for id in sorted(found)[:limit]], now)

    @translate_errors
    async def record_starts(self, starts: Sequence[Start]) -> list[str]:
        if not starts:
            return []
        executions = self.database.executions
        changes = [
            UpdateOne(
                {"_id": one.id, "state": RUNNING, "attempt": one.attempt, "frozen": None},
                # Not a revision: the end of a run with a permit is written at the one it was read.
                {"$set": {"started_at": one.started_at}},
            )
            for one in starts
        ]
        await executions.bulk_write(changes, ordered=False)
        asked = {(one.id, one.attempt, one.started_at) for one in starts}
        found = executions.find(
            {"_id": {"$in": [one.id for one in starts]}, "state": RUNNING},
            {"attempt": 1, "started_at": 1, "gate": 1, "permit": 1},
        )
        written = [
            doc
            async for doc in found
            if (doc["_id"], doc["attempt"], doc.get("started_at")) in asked
        ]
        rated = [doc for doc in written if "permit" in doc and is_rate(doc["gate"])]
        for doc in rated:
            # The execution keeps the name of it: a permit is returned once.
            gates = self.sweeper.transactions.gates
            await gates.give_back(doc["gate"], doc["permit"], doc["started_at"])
        if rated:
            self.client.bell.ring()
        return [doc["_id"] for doc in written]

    @translate_errors
    async def list_workers(self) -> list[Liveness]:
        found = self.database.workers.find({}, sort=[("_id", 1)])
        return [_liveness_of(doc) async for doc in found]


def _fields(worker: Worker) -> dict[str, Any]:
    return {
        "host": clean(worker.host),
        "pid": worker.pid,
        "queues": list(worker.queues),
        "abilities": list(worker.abilities),
        "capacity": worker.capacity,
        "started_at": worker.started_at,
        "process": worker.process,
        "roles": list(worker.roles),
        "version": worker.version,
        "busy": worker.busy,
        "beat_every": worker.beat_every,
        "clock_offset": worker.clock_offset,
        "refusals": [[each.job, each.version, clean(each.why)] for each in worker.refusals],
    }


def _liveness_of(doc: Document) -> Liveness:
    worker = Worker(
        id=doc["_id"],
        host=doc["host"],
        pid=doc["pid"],
        queues=tuple(doc["queues"]),
        abilities=tuple(doc["abilities"]),
        capacity=doc["capacity"],
        started_at=doc["started_at"],
        process=doc.get("process", ""),
        refusals=tuple(Refusal(*each) for each in doc.get("refusals", ())),
        roles=tuple(doc.get("roles", ("worker",))),
        version=doc.get("version", ""),
        busy=doc.get("busy", 0),
        beat_every=doc.get("beat_every", DEFAULT_BEAT),
        clock_offset=doc.get("clock_offset", 0),
    )
    return Liveness(
        worker=worker, beat=doc["beat"], seen_at=doc["seen_at"], lost=doc.get("lost", False)
    )
