"""Overlap gates: the end of an execution transfers its job's permit.

For most jobs nothing waits, or only the next fire, which has to be queued: those are bulk writes.
All others are left to the memory store's code.
"""

from __future__ import annotations

from pymongo import UpdateOne

from tickwell.stores.mongo.client import Part
from tickwell.stores.mongo.codec import QUEUED, RUNNING
from tickwell.stores.mongo.database import Document, monotonic, new_op
from tickwell.stores.mongo.workspace.outbox import Outbox, Update
from tickwell.stores.mongo.workspace.transaction import SHORT, Transactions
from tickwell.stores.mongo.workspace.workspace import Workspace

_HEAD = {"holder": 1, "waiting": 1, "rev": 1, "outbox.op": 1}
_FIRST = {"job": 1, "rank": 1, "rev": 1, "gate": 1}
#: What the permit changes about an execution that waits for no other gate.
_LET_IN = {"$set": {"state": QUEUED, "holds_job": True}, "$unset": {"waits": ""}}


class OverlapGates(Part):
    """Releases jobs' own gates."""

    def __init__(self, transactions: Transactions) -> None:
        super().__init__(transactions.client)
        self.transactions = transactions

    async def leave_gates(self, holders: dict[str, str], now: int) -> None:
        """Return the permits of holders that have ended, by job."""
        if not holders:
            return
        done = await self.database.jobs.bulk_write(
            [_release_write(job, holder) for job, holder in holders.items()], ordered=False
        )
        if done.matched_count < len(holders):
            stuck = await self._transfer_all(holders)
            await self.release(stuck, now)
        await self.database.executions.update_many(
            {
                "_id": {"$in": [*holders.values()]},
                "holds_job": True,
                "state": {"$gt": RUNNING},
                "frozen": None,
            },
            {"$unset": {"holds_job": ""}, "$inc": {"rev": 1}},
        )

    async def release(self, docs: list[Document], now: int) -> None:
        """Return jobs' permits that ended executions still hold."""
        ids = [doc["_id"] for doc in docs]

        async def read(space: Workspace) -> None:
            await self.transactions.read_rows(space, ids)
            await self.transactions.read_gates(space, 2)

        async def change(space: Workspace) -> None:
            for id in ids:
                row = space.tables.rows.get(id)
                if row is not None and row.execution.ended_at is not None:
                    space.flow.release_job(row, now)

        if ids:
            await self.transactions.run({doc["job"] for doc in docs}, now, read, change)

    async def _transfer_all(self, holders: dict[str, str]) -> list[Document]:
        """Transfer permits to the next executions; the holders left to the memory store's code."""
        where = {"_id": {"$in": [*holders]}, "holder": {"$in": [*holders.values()]}}
        heads = [doc async for doc in self.database.jobs.find(where, _HEAD)]
        best = await self._best([doc["_id"] for doc in heads if _is_simple(doc)])
        passed = await self._transfer([doc for doc in heads if doc["_id"] in best], best)
        left = (doc for doc in heads if doc["_id"] not in passed)
        return [{"_id": doc["holder"], "job": doc["_id"]} for doc in left]

    async def _best(self, job_ids: list[str]) -> dict[str, Document]:
        """The first execution that waits for each gate, unless it waits for another gate too."""
        if not job_ids:
            return {}
        found = self.database.executions.find({"job": {"$in": job_ids}, "waits": "job"}, _FIRST)
        docs = sorted([doc async for doc in found], key=lambda doc: (doc["rank"], doc["_id"]))
        best = {doc["job"]: doc for doc in reversed(docs)}
        return {job: doc for job, doc in best.items() if "gate" not in doc}

    async def _transfer(self, heads: list[Document], best: dict[str, Document]) -> set[str]:
        """Make them holders, by their jobs' writes; the jobs that did not change in between."""
        if not heads:
            return set()
        op, jobs = new_op(), self.database.jobs
        outboxes = {doc["_id"]: _outbox(op, best[doc["_id"]]) for doc in heads}
        done = await jobs.bulk_write(
            [_transfer_write(doc, best[doc["_id"]], outboxes[doc["_id"]]) for doc in heads],
            ordered=False,
        )
        passed = set(outboxes)
        if done.matched_count < len(heads):
            found = jobs.find({"_id": {"$in": [*outboxes]}, "moved_by": op}, {"_id": 1})
            passed = {doc["_id"] async for doc in found}
        written = {id: outbox for id, outbox in outboxes.items() if id in passed}
        await self.transactions.commits.apply(written, [], monotonic())
        return passed


def _is_simple(head: Document) -> bool:
    """Whether no outbox has to be applied first, and the queue for the gate is short."""
    return "outbox" not in head and head.get("waiting", 0) <= SHORT


def _release_write(job: str, holder: str) -> UpdateOne:
    return UpdateOne(
        {"_id": job, "holder": holder, "waiting": None},
        {"$unset": {"holder": ""}, "$inc": {"rev": 1}},
    )


def _outbox(op: str, following: Document) -> Document:
    return Outbox(set=[Update.of(following["_id"], following["rev"], _LET_IN)]).document(op)


def _transfer_write(head: Document, following: Document, outbox: Document) -> UpdateOne:
    changed = {"holder": following["_id"], "moved_by": outbox["op"], "outbox": outbox}
    change: Document = {"$set": changed, "$inc": {"rev": 1}}
    if head.get("waiting", 0) > 1:
        change["$inc"]["waiting"] = -1
    else:
        change["$unset"] = {"waiting": ""}
    return UpdateOne({"_id": head["_id"], "rev": head["rev"]}, change)
