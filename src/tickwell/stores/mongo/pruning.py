"""Pruning on MongoDB: job by job, when something may be past its retention."""

from __future__ import annotations

from dataclasses import dataclass

from tickwell.domain.execution import ENDED
from tickwell.domain.job import Job
from tickwell.domain.policy import DAY, KEPT_VERSIONS
from tickwell.errors import StoreCorrupt
from tickwell.stores.mongo.client import Part
from tickwell.stores.mongo.codec import ADDING, DEAD, DELETED, FIRST_ENDED, RUNNING
from tickwell.stores.mongo.database import Document
from tickwell.stores.mongo.documents import WHOLE, entry_of
from tickwell.stores.mongo.errors import translate_errors
from tickwell.stores.mongo.records import version_prefix
from tickwell.stores.mongo.workspace.transaction import Transactions
from tickwell.stores.mongo.workspace.workspace import Workspace
from tickwell.stores.sql.rows.documents import LAST, unneeded, until_next_look

#: Jobs that one call examines.
MAX_JOBS = 1000
_OTHERS = {"$gte": FIRST_ENDED, "$ne": DEAD}


@dataclass(slots=True)
class Left:
    """How many of each kind one call may still delete."""

    executions: int
    skips: int
    versions: int

    def is_empty(self) -> bool:
        """Whether nothing more may be deleted."""
        return self.executions == self.skips == self.versions == 0


class MongoPruning(Part):
    """The part of `ports.store.Upkeep` that deletes."""

    def __init__(self, transactions: Transactions) -> None:
        super().__init__(transactions.client)
        self.transactions = transactions

    @translate_errors
    async def prune(self, now: int, limit: int) -> int:
        left = Left(limit, limit, limit)
        where: Document = {
            "prune_at": {"$lte": now},
            "state": {"$gt": ADDING},
            "_id": {"$nin": self.cache.unreadable.keys(now)},
        }
        found = self.database.jobs.find(where, {"_id": 1}, sort=[("prune_at", 1)], limit=MAX_JOBS)
        for id in [doc["_id"] async for doc in found]:
            if left.is_empty():
                break
            await self._prune_job(id, now, left)
        pruned = 3 * limit - left.executions - left.skips - left.versions
        pruned += await self._prune_records(now, limit)
        pruned += await self._prune_workers(now, limit)
        await self.database.gates.delete_many({"holders": [], "until": None})
        await self.transactions.gates.rates.prune(now)
        return pruned + await self._prune_jobs(limit)

    async def _prune_job(self, id: str, now: int, left: Left) -> None:
        doc = await self.database.jobs.find_one({"_id": id})
        if doc is None:
            return
        try:
            job = entry_of(self.cache, doc).job
        except StoreCorrupt as error:
            self.cache.unreadable.add(id, id, error, now)
            return
        left.executions -= await self._prune_history(id, now, left.executions)
        left.skips -= await self._prune_skips(job, now, left.skips)
        left.versions -= await self._prune_versions(job, now, left.versions)
        if left.executions and left.skips and left.versions:
            await self._look_later(job, now)

    async def _prune_history(self, id: str, now: int, limit: int) -> int:
        """Delete executions past the job's retention; how many."""
        gone: list[str] = []

        async def read(space: Workspace) -> None:
            gone.clear()
            if id in space.tables.jobs:
                await self._read_old(space, id, now, limit)

        async def change(space: Workspace) -> None:
            for one in sorted(space.tables.by_job.get(id, ())):
                if space.tables.rows[one].execution.state in ENDED:
                    gone.append(one)
                    space.drop_row(one)

        if limit:
            await self.transactions.run([id], now, read, change)
        return len(gone)

    async def _read_old(self, space: Workspace, id: str, now: int, limit: int) -> None:
        executions, retention = self.database.executions, space.tables.jobs[id].job.retention
        past = [
            {"state": DEAD, "ended_at": {"$lte": now - retention.dead}},
            {"state": _OTHERS, "ended_at": {"$lte": now - retention.age}},
        ]
        old = executions.find({"job": id, "$or": past}, WHOLE, sort=[("_id", 1)], limit=limit)
        docs = [doc async for doc in old]
        if space.head(id).get("made", 0) > retention.count and len(docs) < limit:
            prunable = {"job": id, "state": _OTHERS, "ended_at": {"$gt": now - retention.age}}
            room = limit - len(docs)
            over = executions.find(
                prunable, WHOLE, sort=[("_id", -1)], skip=retention.count, limit=room
            )
            docs += [doc async for doc in over]
        for doc in docs:
            space.add_row(doc)

    async def _prune_skips(self, job: Job, now: int, limit: int) -> int:
        skips = self.database.skips
        where = {"job": job.id, "last": {"$lt": now - job.retention.age}}
        found = skips.find(where, {"_id": 1}, limit=limit) if limit else None
        ids = [doc["_id"] async for doc in found] if found else []
        return (await skips.delete_many({"_id": {"$in": ids}})).deleted_count if ids else 0

    async def _prune_versions(self, job: Job, now: int, limit: int) -> int:
        """Delete former definitions beyond the number to keep that are older than the history."""
        if not limit:
            return 0
        rows = await self._former(job, limit + 1)
        gone = unneeded(rows, now - job.retention.age)[:limit]
        ids = [version_prefix(job.project, key) for key in gone]
        done = await self.database.records.delete_many({"_id": {"$in": ids}})
        return done.deleted_count

    async def _former(self, job: Job, limit: int) -> list[tuple[str, str]]:
        """Keys and documents of the oldest definitions beyond the number to keep."""
        if job.version <= KEPT_VERSIONS + 1:
            return []
        begin = version_prefix(job.project, f"{job.id}/")
        end = version_prefix(job.project, f"{job.id}/{job.version - KEPT_VERSIONS:08}")
        span = {"_id": {"$gte": begin, "$lte": end}}
        found = self.database.records.find(span, sort=[("_id", 1)], limit=limit)
        return [(doc["_id"].rpartition("\n")[2], doc["document"]) async for doc in found]

    async def _look_later(self, job: Job, now: int) -> None:
        """Note when something may be past its retention again, unless the job has changed."""
        jobs = self.database.jobs
        doc = await jobs.find_one({"_id": job.id}, {"rev": 1, "made": 1})
        if doc is None:
            return
        at = await self._next_look(job, doc.get("made", 0), now)
        change: Document = (
            {"$unset": {"prune_at": ""}} if at is None else {"$set": {"prune_at": at}}
        )
        await jobs.update_one({"_id": job.id, "rev": doc["rev"]}, change)

    async def _next_look(self, job: Job, made: int, now: int) -> int | None:
        retention, looks = job.retention, list[int]()
        if made > retention.count:
            return now + until_next_look(made - retention.count)
        if job.version > KEPT_VERSIONS + 1:
            return now
        if made:
            ended = {"job": job.id, "state": {"$gte": FIRST_ENDED}}
            oldest = await self.database.executions.find_one(
                ended, {"ended_at": 1}, sort=[("ended_at", 1)]
            )
            since = now if oldest is None else min(now, oldest["ended_at"])
            looks.append(since + min(retention.age, retention.dead))
        skip = await self.database.skips.find_one({"job": job.id}, {"last": 1}, sort=[("last", 1)])
        if skip is not None:
            looks.append(skip["last"] + retention.age)
        return min(looks, default=None)

    async def _prune_records(self, now: int, limit: int) -> int:
        records, expired = self.database.records, {"expires_at": {"$lte": now}}
        ids = [doc["_id"] async for doc in records.find(expired, {"_id": 1}, limit=limit)]
        return (await records.delete_many({"_id": {"$in": ids}, **expired})).deleted_count

    async def _prune_workers(self, now: int, limit: int) -> int:
        workers, pruned = self.database.workers, 0
        where: Document = {"lost": True, "seen_at": {"$lte": now - DAY}}
        for doc in [doc async for doc in workers.find(where, {"_id": 1}, limit=limit)]:
            holding = {"state": RUNNING, "worker": doc["_id"]}
            if await self.database.executions.find_one(holding, {"_id": 1}) is None:
                pruned += (await workers.delete_one({"_id": doc["_id"], **where})).deleted_count
        return pruned

    async def _prune_jobs(self, limit: int) -> int:
        """Delete deleted jobs without history: what belongs to them first."""
        database, pruned = self.database, 0
        where: Document = {"state": DELETED, "made": None, "outbox": None}
        for doc in [doc async for doc in database.jobs.find(where, {"project": 1}, limit=limit)]:
            begin = version_prefix(doc["project"], f"{doc['_id']}/")
            await database.records.delete_many({"_id": {"$gte": begin, "$lt": begin + LAST}})
            await database.skips.delete_many({"job": doc["_id"]})
            gone = await database.jobs.delete_one({"_id": doc["_id"], **where})
            pruned += gone.deleted_count
        return pruned
