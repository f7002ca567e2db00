"""Reading what an operation needs, and doing it again for jobs that moved meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from random import SystemRandom
from types import MappingProxyType

from tickwell.domain.execution import ENDED, NewExecution, RangeSkip
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Job
from tickwell.errors import StoreCorrupt, StoreUnavailable
from tickwell.stores.mongo.codec import ADDING, FIRST_ENDED
from tickwell.stores.mongo.committing import MongoCommitting
from tickwell.stores.mongo.outbox import skip_of
from tickwell.stores.mongo.rows import Document
from tickwell.stores.mongo.workspace import Workspace
from tickwell.stores.pause import rest

#: How often a job may move under an operation before that is given up.
TURNS = 200
#: Lines before a job's gate up to this length are read whole, those of many jobs at once.
SHORT = 20
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
            frozen = {"job": {"$in": job_ids}, "frozen": {"$exists": True}}
            found = self._database.executions.find(frozen, {"job": 1, "frozen": 1})
            await self.unfreeze([doc async for doc in found])

    async def unfreeze(self, frozen: Iterable[Document]) -> None:
        """Thaw executions, given with their jobs, that an operation froze and then left.

        The job moves first, so that the operation, should it still be alive, cannot happen; if it
        has happened, its outbox is carried out. Only freezes that were read before that are undone:
        an operation that froze since goes by the revision that the job has now, and may happen.
        """
        ops: dict[str, set[str]] = {}
        for doc in frozen:
            ops.setdefault(doc["job"], set()).add(doc["frozen"])
        jobs, executions = self._database.jobs, self._database.executions
        for id in sorted(ops):
            await jobs.update_one({"_id": id}, {"$inc": {"rev": 1}})
            await self.flush([doc async for doc in jobs.find({"_id": id})])
            await executions.update_many(
                {"job": id, "frozen": {"$in": sorted(ops[id])}},
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
        unread = [id for id in ids if id not in space.tables.rows]
        if not unread:
            return
        found = self._database.executions.find({"_id": {"$in": unread}})
        for doc in [doc async for doc in found]:
            if doc["job"] in space.tables.jobs:
                space.add_row(doc)

    async def read_holders(self, space: Workspace, asked_to_leave: Collection[str]) -> set[str]:
        """Take in who holds jobs' gates, if it may be asked to leave or is gone; who is gone.

        It has ended, and the process that ended it died before the gate was left, or is about to
        leave it; or it was pruned.
        """
        gates, rows = space.tables.job_gate, space.tables.rows
        await self.read_rows(space, [gates[id] for id in asked_to_leave if id in gates])
        held = [id for id in gates.values() if id not in rows]
        live = await self.live(held)
        await self.read_rows(space, [id for id in held if id not in live])
        return {
            id
            for id in gates.values()
            if id not in live and (id not in rows or rows[id].execution.state in ENDED)
        }

    async def live(self, ids: list[str]) -> set[str]:
        """Those that have not ended."""
        if not ids:
            return set()
        where = {"_id": {"$in": ids}, "state": {"$lt": FIRST_ENDED}}
        return {doc["_id"] async for doc in self._database.executions.find(where, {"_id": 1})}

    async def read_gates(
        self, space: Workspace, most: int, new: Iterable[NewExecution] = ()
    ) -> None:
        """Take in who stands before the jobs' own gates, and who may be asked to leave them.

        `most` is how many may come to hold one in turn, `new` is what is about to come there.
        """
        tables = space.tables
        cancelling = {one.job.id for one in new if one.overlap is Overlap.CANCEL_RUNNING}
        cancelling |= {
            row.execution.job_id
            for row in tables.rows.values()
            if row.overlap is Overlap.CANCEL_RUNNING
        }
        gone = await self.read_holders(space, cancelling)
        lines = {id: space.line(id) for id in tables.jobs}
        short = [id for id, length in lines.items() if 0 < length <= SHORT]
        reads = [self._before(id, most) for id, length in lines.items() if length > SHORT]
        if short:
            reads.append(self._all_before(short))
        for docs in await asyncio.gather(*reads):
            for doc in docs:
                space.add_row(doc)
        space.free_gates(gone)

    async def _all_before(self, job_ids: list[str]) -> list[Document]:
        found = self._database.executions.find({"job": {"$in": job_ids}, "waits": "job"})
        return [doc async for doc in found]

    async def _before(self, job_id: str, most: int) -> list[Document]:
        """The first in a long line, and those that may be replaced by a newer one."""
        executions, where = self._database.executions, {"job": job_id, "waits": "job"}
        order = [("rank", 1), ("_id", 1)]
        first = [doc async for doc in executions.find(where, sort=order, limit=most)]
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
