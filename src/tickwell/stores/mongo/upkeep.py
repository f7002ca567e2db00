"""Pruning on MongoDB."""

from __future__ import annotations

from tickwell.domain.execution import ENDED
from tickwell.domain.policy import DAY
from tickwell.stores.mongo.codec import DEAD, DELETED, FIRST_ENDED, RUNNING
from tickwell.stores.mongo.errors import edge
from tickwell.stores.mongo.records import version_prefix
from tickwell.stores.mongo.rows import Document
from tickwell.stores.mongo.sweeping import MongoSweeping
from tickwell.stores.mongo.workspace import Workspace
from tickwell.stores.sql.documents import LAST

#: Jobs that are looked at together.
JOBS = 50


class MongoUpkeep(MongoSweeping):
    """The part of `ports.store.Upkeep` that deletes."""

    @edge
    async def prune(self, now: int, limit: int) -> int:
        pruned = await self._prune_history(now, limit)
        pruned += await self._prune_records(now, limit)
        pruned += await self._prune_workers(now, limit)
        await self._database.gates.delete_many({"holders": []})
        return pruned + await self._prune_jobs(limit)

    async def _prune_history(self, now: int, limit: int) -> int:
        pruned = 0
        found = self._database.jobs.find({"prune_at": {"$lte": now}}, {"_id": 1}, limit=JOBS * 20)
        ids = [doc["_id"] async for doc in found]
        for id in ids:
            if pruned >= limit:
                break
            pruned += await self._prune_job(id, now, limit - pruned)
        return pruned

    async def _prune_job(self, id: str, now: int, limit: int) -> int:
        """Delete what is past the job's retention; how much."""
        gone: list[str] = []

        async def fill(space: Workspace) -> None:
            gone.clear()
            if id in space.tables.jobs:
                await self._read_old(space, id, now, limit)

        async def do(space: Workspace) -> None:
            for one in sorted(space.tables.by_job.get(id, ())):
                if space.tables.rows[one].execution.state in ENDED:
                    gone.append(one)
                    space.drop_row(one)
            if id in space.tables.jobs and len(gone) < limit:
                space.look_at_history(id, await self._next_look(space, id, now, gone))

        await self.work([id], now, fill, do)
        return len(gone)

    async def _read_old(self, space: Workspace, id: str, now: int, limit: int) -> None:
        executions, retention = self._database.executions, space.tables.jobs[id].job.retention
        past = [
            {"state": DEAD, "ended_at": {"$lte": now - retention.dead}},
            {
                "state": {"$gte": FIRST_ENDED, "$ne": DEAD},
                "ended_at": {"$lte": now - retention.age},
            },
        ]
        old = executions.find({"job": id, "$or": past}, sort=[("_id", 1)], limit=limit)
        for doc in [doc async for doc in old]:
            space.add_row(doc)
        if space.head(id).get("made", 0) > retention.count:
            kept = {
                "job": id,
                "state": {"$gte": FIRST_ENDED, "$ne": DEAD},
                "ended_at": {"$gt": now - retention.age},
            }
            over = executions.find(kept, sort=[("_id", -1)], skip=retention.count, limit=limit)
            for doc in [doc async for doc in over]:
                if len(space.tables.rows) < limit:
                    space.add_row(doc)

    async def _next_look(self, space: Workspace, id: str, now: int, gone: list[str]) -> int | None:
        """When something may be past its retention again; none when nothing is left."""
        left = space.head(id).get("made", 0) - len(gone)
        retention = space.tables.jobs[id].job.retention
        if left <= 0:
            return None
        if left > retention.count:
            return now
        where = {"job": id, "state": {"$gte": FIRST_ENDED}, "_id": {"$nin": gone}}
        oldest = await self._database.executions.find_one(
            where, {"ended_at": 1}, sort=[("ended_at", 1)]
        )
        since = now if oldest is None else min(now, oldest["ended_at"])
        return int(since + min(retention.age, retention.dead))

    async def _prune_records(self, now: int, limit: int) -> int:
        records = self._database.records
        found = records.find({"expires_at": {"$lte": now}}, {"_id": 1}, limit=limit)
        ids = [doc["_id"] async for doc in found]
        gone = await records.delete_many({"_id": {"$in": ids}, "expires_at": {"$lte": now}})
        return gone.deleted_count

    async def _prune_workers(self, now: int, limit: int) -> int:
        workers, pruned = self._database.workers, 0
        where: Document = {"lost": True, "seen_at": {"$lte": now - DAY}}
        for doc in [doc async for doc in workers.find(where, {"_id": 1}, limit=limit)]:
            holding = {"state": RUNNING, "worker": doc["_id"]}
            if await self._database.executions.find_one(holding, {"_id": 1}) is None:
                pruned += (await workers.delete_one({"_id": doc["_id"], **where})).deleted_count
        return pruned

    async def _prune_jobs(self, limit: int) -> int:
        """Forget deleted jobs without history: all that belongs to them first."""
        database, pruned = self._database, 0
        where: Document = {"state": DELETED, "made": None, "outbox": None}
        for doc in [doc async for doc in database.jobs.find(where, {"project": 1}, limit=limit)]:
            begin = version_prefix(doc["project"], doc["_id"])
            await database.records.delete_many({"_id": {"$gte": begin, "$lt": begin + LAST}})
            await database.skips.delete_many({"job": doc["_id"]})
            gone = await database.jobs.delete_one({"_id": doc["_id"], **where})
            pruned += gone.deleted_count
        return pruned
