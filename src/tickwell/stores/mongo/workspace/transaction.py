"""Transactions: read, change in memory, commit, and repeat for jobs that changed in between."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from random import SystemRandom
from types import MappingProxyType

from tickwell.domain.execution import ENDED, NewExecution, RangeSkip
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Job
from tickwell.errors import StoreCorrupt, StoreUnavailable
from tickwell.stores.event_wait import rest
from tickwell.stores.mongo.client import Client, Part
from tickwell.stores.mongo.codec import ADDING, FIRST_ENDED
from tickwell.stores.mongo.database import Document
from tickwell.stores.mongo.documents import WHOLE
from tickwell.stores.mongo.workspace.commit import Commits
from tickwell.stores.mongo.workspace.concurrency_gates import ConcurrencyGates, Moved
from tickwell.stores.mongo.workspace.outbox import skip_of
from tickwell.stores.mongo.workspace.workspace import Workspace

#: How often an operation is tried on a job that other processes keep changing.
MAX_TRIES = 200
#: Of jobs with at most this many waiting executions, all are read, with one query for all jobs.
SHORT = 20
#: Overlap rules whose executions a newer one replaces while they wait.
_REPLACED = (1, 3)

_random = SystemRandom()

Step = Callable[[Workspace], Awaitable[None]]
#: A method of the memory store, on executions by id.
Method = Callable[[Workspace, list[str]], Awaitable[list[str]]]
#: Called after each try: its workspace, the jobs that changed in between, and the executions that
#: gates of keys and rates have moved.
After = Callable[[Workspace, set[str], Moved], None]


class Transactions(Part):
    """Runs operations of the memory store on documents."""

    def __init__(self, client: Client) -> None:
        super().__init__(client)
        self.gates = ConcurrencyGates(client.database)
        self.commits = Commits(client, self.gates)

    async def run(
        self,
        job_ids: Iterable[str],
        now: int,
        read: Step,
        change: Step,
        after: After | None = None,
        *,
        known: Mapping[str, Job] | None = None,
    ) -> None:
        """Read jobs and what belongs to them into a workspace, change it, and commit it.

        Jobs that another process changed in between are read and changed again, and only they.
        `known` are definitions to use where the current one cannot be read.
        """
        left = sorted(set(job_ids))
        for tries in range(MAX_TRIES):
            space = Workspace(self.cache, now, left)
            await self.read_jobs(space, left, known or {})
            await read(space)
            await change(space)
            missed, moved = await self.commits.commit(space)
            if after is not None:
                after(space, missed, moved)
            if not missed:
                return
            left = sorted(missed)
            await self.make_way(left, tries)
        raise StoreUnavailable(
            f"{self.name}: job {left[0]} keeps being changed by other processes; try again"
        )

    async def on_executions(
        self, ids: Sequence[str], now: int, method: Method, *, with_steps: bool = False
    ) -> list[str]:
        """Call a method of the memory store on executions; those that it changed."""
        found = self.database.executions.find({"_id": {"$in": [*ids]}}, {"job": 1})
        jobs = {doc["_id"]: doc["job"] async for doc in found}
        done: set[str] = set()
        moved: list[str] = []

        def mine(space: Workspace) -> list[str]:
            return [id for id in ids if jobs.get(id) in space.asked]

        async def read(space: Workspace) -> None:
            space.require_readable()
            await self.read_rows(space, mine(space), with_steps=with_steps)
            await self.read_gates(space, len(ids) + 2)

        async def change(space: Workspace) -> None:
            moved[:] = await method(space, mine(space))

        def after(_: Workspace, missed: set[str], __: Moved) -> None:
            done.update(id for id in moved if jobs[id] not in missed)

        await self.run(set(jobs.values()), now, read, change, after)
        return [id for id in dict.fromkeys(ids) if id in done]

    async def make_way(self, job_ids: list[str], tries: int) -> None:
        """Wait for other operations on these jobs to end."""
        await rest(_random.uniform(0, min(0.001 * 2**tries, 0.05)))
        if tries > MAX_TRIES // 4:
            frozen = {"job": {"$in": job_ids}, "frozen": {"$exists": True}}
            found = self.database.executions.find(frozen, {"job": 1, "frozen": 1})
            await self.unfreeze([doc async for doc in found])

    async def unfreeze(self, frozen: Iterable[Document]) -> None:
        """Thaw executions, given with their jobs, that an abandoned operation has frozen.

        The job's revision moves first, so that the operation, if it still runs, cannot commit; if
        it has committed, its outbox is applied. Only freezes that were read before that are undone:
        a later operation has read the new revision of the job, and may commit.
        """
        ops: dict[str, set[str]] = {}
        for doc in frozen:
            ops.setdefault(doc["job"], set()).add(doc["frozen"])
        jobs, executions = self.database.jobs, self.database.executions
        for id in sorted(ops):
            await jobs.update_one({"_id": id}, {"$inc": {"rev": 1}})
            await self.commits.flush([doc async for doc in jobs.find({"_id": id})])
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
        """Read jobs, after applying their outboxes."""
        where = {"_id": {"$in": list(ids)}, "state": {"$gt": ADDING}}
        while True:
            docs = [doc async for doc in self.database.jobs.find(where)]
            if not await self.commits.flush(docs):
                break
        for doc in docs:
            try:
                space.add_job(doc, known.get(doc["_id"]))
            except StoreCorrupt as error:
                self.cache.unreadable.add(doc["_id"], doc["_id"], error, space.now)
                space.unreadable[doc["_id"]] = error

    async def read_rows(
        self, space: Workspace, ids: Collection[str], *, with_steps: bool = False
    ) -> None:
        """Read executions whose jobs were read."""
        unread = [id for id in ids if id not in space.tables.rows]
        if not unread:
            return
        fields = None if with_steps else WHOLE
        found = self.database.executions.find({"_id": {"$in": unread}}, fields)
        for doc in [doc async for doc in found]:
            if doc["job"] in space.tables.jobs:
                space.add_row(doc)

    async def read_holders(self, space: Workspace, asked_to_leave: Collection[str]) -> set[str]:
        """Read holders of jobs' gates that may be asked to leave, or are gone; returns those gone.

        A holder is gone if it was pruned, or if it has ended and the process that ended it died
        before it released the gate, or is about to.
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
        """The executions that have not ended."""
        if not ids:
            return set()
        where = {"_id": {"$in": ids}, "state": {"$lt": FIRST_ENDED}}
        return {doc["_id"] async for doc in self.database.executions.find(where, {"_id": 1})}

    async def read_gates(
        self, space: Workspace, most: int, new: Iterable[NewExecution] = ()
    ) -> None:
        """Read what waits for the jobs' own gates, and holders that may be asked to leave.

        `most` is how many may hold a gate one after the other, `new` is what is about to arrive.
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
        found = self.database.executions.find({"job": {"$in": job_ids}, "waits": "job"}, WHOLE)
        return [doc async for doc in found]

    async def _before(self, job_id: str, most: int) -> list[Document]:
        """The first of many, and those that may be replaced by a newer one."""
        executions, where = self.database.executions, {"job": job_id, "waits": "job"}
        order = [("rank", 1), ("_id", 1)]
        first = [doc async for doc in executions.find(where, WHOLE, sort=order, limit=most)]
        replaced = executions.find({**where, "overlap": {"$in": _REPLACED}}, WHOLE, sort=order)
        return first + [doc async for doc in replaced]

    async def read_skips(self, space: Workspace, job_id: str, new: Sequence[RangeSkip]) -> None:
        """Read range skips of a job that touch these."""
        if new:
            first, last = min(skip.first for skip in new), max(skip.last for skip in new)
            where = {"job": job_id, "first": {"$lte": last}, "last": {"$gte": first}}
            found = self.database.skips.find(where)
            space.add_skips(job_id, [skip_of(doc) async for doc in found])

    async def read_live(self, space: Workspace, job_id: str) -> None:
        """Read all of a job's executions that have not ended."""
        where = {"job": job_id, "state": {"$lt": FIRST_ENDED}}
        found = self.database.executions.find(where, WHOLE, sort=[("_id", 1)])
        for doc in [doc async for doc in found]:
            space.add_row(doc)
