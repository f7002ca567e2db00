"""Reading what an operation needs, and doing it again for jobs that moved meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from random import SystemRandom
from types import MappingProxyType

from tickwell.domain.execution import RangeSkip
from tickwell.domain.job import Job
from tickwell.errors import StoreCorrupt, StoreUnavailable
from tickwell.stores.mongo.base import rest
from tickwell.stores.mongo.codec import ADDING, FIRST_ENDED
from tickwell.stores.mongo.committing import MongoCommitting
from tickwell.stores.mongo.outbox import skip_of
from tickwell.stores.mongo.rows import Document
from tickwell.stores.mongo.workspace import Workspace

#: How often a job may move under an operation before that is given up.
TURNS = 200
#: Replaced by a newer one when both are before their job's gate.
_REPLACED = (1, 3)

_random = SystemRandom()

Work = Callable[[Workspace], Awaitable[None]]
#: What became of one turn: its workspace, the jobs that moved, who passed a key's gate.
After = Callable[[Workspace, set[str], set[str]], None]


class MongoWorking(MongoCommitting):
    """Operations as the memory store has them, on documents."""

    async def work(
        self,
        job_ids: Iterable[str],
        now: int,
        fill: Work,
        do: Work,
        after: After | None = None,
        *,
        known: Mapping[str, Job] | None = None,
    ) -> None:
        """Fill a workspace with these jobs and what belongs to them, do something, write it.

        Jobs that moved between reading and writing are read and done again, and only they. `known`
        are definitions to go by where the one in force cannot be read.
        """
        left = sorted(set(job_ids))
        for turn in range(TURNS):
            space = Workspace(self.cache, now, left)
            await self.read_jobs(space, left, known or {})
            await fill(space)
            await do(space)
            missed, entered = await self.commit(space)
            if after is not None:
                after(space, missed, entered)
            if not missed:
                return
            left = sorted(missed)
            await self.make_way(left, turn)
        raise StoreUnavailable(
            f"{self.name}: job {left[0]} is being changed all the time; try again"
        )

    async def make_way(self, job_ids: list[str], turn: int) -> None:
        """Let whoever is at work on these jobs come to an end."""
        await rest(_random.uniform(0, min(0.001 * 2**turn, 0.05)))
        if turn > TURNS // 4:
            await self.unfreeze(job_ids)

    async def unfreeze(self, job_ids: list[str]) -> None:
        """Give back what an operation took out of reach and then left.

        Its job moves first, so that the operation, should it still be alive, cannot happen.
        """
        database = self._database
        for id in job_ids:
            await database.jobs.update_one({"_id": id}, {"$inc": {"rev": 1}})
            await self.flush([doc async for doc in database.jobs.find({"_id": id})])
            await database.executions.update_many(
                {"job": id, "frozen": {"$exists": True}},
                {"$unset": {"frozen": ""}, "$inc": {"rev": 1}},
            )

    async def read_jobs(
        self,
        space: Workspace,
        ids: Collection[str],
        known: Mapping[str, Job] = MappingProxyType({}),
    ) -> None:
        """Take jobs in, with nothing left in their outboxes."""
        where = {"_id": {"$in": list(ids)}, "state": {"$gt": ADDING}}
        while True:
            docs = [doc async for doc in self._database.jobs.find(where)]
            if not await self.flush(docs):
                break
        for doc in docs:
            try:
                space.add_job(doc, known.get(doc["_id"]))
            except StoreCorrupt as error:
                self.cache.unreadable.add(doc["_id"], doc["_id"], error, space.now)
                space.unreadable[doc["_id"]] = error

    async def read_rows(self, space: Workspace, ids: Collection[str]) -> None:
        """Take executions in whose jobs are there."""
        if not ids:
            return
        found = self._database.executions.find({"_id": {"$in": list(ids)}})
        for doc in [doc async for doc in found]:
            if doc["job"] in space.tables.jobs:
                space.add_row(doc)

    async def read_gates(self, space: Workspace, most: int) -> None:
        """Take in who holds the jobs' own gates, and the first that stand before them.

        `most` is how many may come to hold it in turn; who may be replaced there is taken in too.
        """
        held = [id for id in space.tables.jobs if id in space.tables.job_gate]
        await self.read_rows(space, [space.tables.job_gate[id] for id in held])
        crowded = [id for id in space.tables.jobs if space.head(id).get("waiting")]
        reads = [self._before(id, most) for id in crowded]
        for docs in await asyncio.gather(*reads):
            for doc in docs:
                space.add_row(doc)

    async def _before(self, job_id: str, most: int) -> list[Document]:
        executions, where = self._database.executions, {"job": job_id, "waits": "job"}
        order = [("rank", 1), ("_id", 1)]
        first = [doc async for doc in executions.find(where, sort=order, limit=most)]
        if len(first) < most:
            return first
        replaced = executions.find({**where, "overlap": {"$in": _REPLACED}}, sort=order)
        return first + [doc async for doc in replaced]

    async def read_skips(self, space: Workspace, job_id: str, new: Sequence[RangeSkip]) -> None:
        """Take in range skips of a job that touch these."""
        if new:
            first, last = min(skip.first for skip in new), max(skip.last for skip in new)
            where = {"job": job_id, "first": {"$lte": last}, "last": {"$gte": first}}
            found = self._database.skips.find(where)
            space.add_skips(job_id, [skip_of(doc) async for doc in found])

    async def read_live(self, space: Workspace, job_id: str) -> None:
        """Take in all of a job's executions that have not ended."""
        where = {"job": job_id, "state": {"$lt": FIRST_ENDED}}
        found = self._database.executions.find(where, sort=[("_id", 1)])
        for doc in [doc async for doc in found]:
            space.add_row(doc)
