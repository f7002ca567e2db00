"""Passing jobs' permits on after plain ends.

Most jobs have nobody before their gates, or the next fire, which only has to be queued: those are
bulk writes. All others are left to the specification.
"""

from __future__ import annotations

from pymongo import UpdateOne

from tickwell.stores.mongo.base import monotonic, new_op
from tickwell.stores.mongo.codec import QUEUED, RUNNING
from tickwell.stores.mongo.outbox import Outbox, Update
from tickwell.stores.mongo.rows import Document
from tickwell.stores.mongo.sweeping import MongoSweeping
from tickwell.stores.mongo.working import SHORT

_HEAD = {"holder": 1, "waiting": 1, "rev": 1, "outbox.op": 1}
_STANDING = {"job": 1, "rank": 1, "rev": 1, "gate": 1}
#: What getting the permit makes of an execution that stands before no other gate.
_LET_IN = {"$set": {"state": QUEUED, "holds_job": True}, "$unset": {"waits": ""}}


class MongoPassing(MongoSweeping):
    """What the ends of executions do to their jobs' gates."""

    async def leave_gates(self, holders: dict[str, str], now: int) -> None:
        """Give permits back, given as job and holder, whose holders have ended."""
        if not holders:
            return
        done = await self._database.jobs.bulk_write(
            [_leaving(job, holder) for job, holder in holders.items()], ordered=False
        )
        if done.matched_count < len(holders):
            stuck = await self._pass_on(holders)
            await self.release(stuck, now)
        await self._database.executions.update_many(
            {
                "_id": {"$in": [*holders.values()]},
                "holds_job": True,
                "state": {"$gt": RUNNING},
                "frozen": None,
            },
            {"$unset": {"holds_job": ""}, "$inc": {"rev": 1}},
        )

    async def _pass_on(self, holders: dict[str, str]) -> list[Document]:
        """Let the next in; the holders whose gates are left to the specification."""
        where = {"_id": {"$in": [*holders]}, "holder": {"$in": [*holders.values()]}}
        heads = [doc async for doc in self._database.jobs.find(where, _HEAD)]
        best = await self._best([doc["_id"] for doc in heads if _is_simple(doc)])
        passed = await self._hand_over([doc for doc in heads if doc["_id"] in best], best)
        left = (doc for doc in heads if doc["_id"] not in passed)
        return [{"_id": doc["holder"], "job": doc["_id"]} for doc in left]

    async def _best(self, job_ids: list[str]) -> dict[str, Document]:
        """The first before each gate, as far as it stands before no other."""
        if not job_ids:
            return {}
        found = self._database.executions.find({"job": {"$in": job_ids}, "waits": "job"}, _STANDING)
        docs = sorted([doc async for doc in found], key=lambda doc: (doc["rank"], doc["_id"]))
        best = {doc["job"]: doc for doc in reversed(docs)}
        return {job: doc for job, doc in best.items() if "gate" not in doc}

    async def _hand_over(self, heads: list[Document], best: dict[str, Document]) -> set[str]:
        """Make them holders, by their jobs' writes; the jobs that had not moved meanwhile."""
        if not heads:
            return set()
        op, jobs = new_op(), self._database.jobs
        outboxes = {doc["_id"]: _outbox(op, best[doc["_id"]]) for doc in heads}
        done = await jobs.bulk_write(
            [_handing(doc, best[doc["_id"]], outboxes[doc["_id"]]) for doc in heads],
            ordered=False,
        )
        passed = set(outboxes)
        if done.matched_count < len(heads):
            found = jobs.find({"_id": {"$in": [*outboxes]}, "moved_by": op}, {"_id": 1})
            passed = {doc["_id"] async for doc in found}
        written = {id: outbox for id, outbox in outboxes.items() if id in passed}
        await self._carry_out(written, [], monotonic())
        return passed


def _is_simple(head: Document) -> bool:
    """Whether nothing is left to be done first, and the line before the gate is short."""
    return "outbox" not in head and head.get("waiting", 0) <= SHORT


def _leaving(job: str, holder: str) -> UpdateOne:
    return UpdateOne(
        {"_id": job, "holder": holder, "waiting": None},
        {"$unset": {"holder": ""}, "$inc": {"rev": 1}},
    )


def _outbox(op: str, following: Document) -> Document:
    return Outbox(set=[Update.of(following["_id"], following["rev"], _LET_IN)]).document(op)


def _handing(head: Document, following: Document, outbox: Document) -> UpdateOne:
    told = {"holder": following["_id"], "moved_by": outbox["op"], "outbox": outbox}
    change: Document = {"$set": told, "$inc": {"rev": 1}}
    if head.get("waiting", 0) > 1:
        change["$inc"]["waiting"] = -1
    else:
        change["$unset"] = {"waiting": ""}
    return UpdateOne({"_id": head["_id"], "rev": head["rev"]}, change)
