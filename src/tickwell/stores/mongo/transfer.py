"""Everything on MongoDB as it is, read and written for a copy."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from pymongo import ReplaceOne, UpdateOne
from pymongo.errors import BulkWriteError

from tickwell.domain.execution import RangeSkip
from tickwell.domain.job import Job
from tickwell.ports.records import Record
from tickwell.ports.transfer import KeptExecution
from tickwell.stores.memory.transfer import kept_of
from tickwell.stores.mongo.client import Part
from tickwell.stores.mongo.database import Document
from tickwell.stores.mongo.documents import row_of, step_document, step_key, steps_of, waits_of
from tickwell.stores.mongo.errors import is_duplicate, translate_errors
from tickwell.stores.mongo.records import record_id, record_of
from tickwell.stores.mongo.workspace.outbox import skip_documents
from tickwell.stores.mongo.workspace.transaction import Transactions
from tickwell.stores.mongo.workspace.workspace import Workspace

#: Characters of payloads and results that one write of a job may carry: a document has 16 MB.
MOST = 2_000_000
#: The pruner looks at a job at once, and works out when it has to look again.
AT_ONCE = 0


class MongoTransfer(Part):
    """`ports.transfer.TransferStore`."""

    def __init__(self, transactions: Transactions) -> None:
        super().__init__(transactions.client)
        self.transactions = transactions

    @translate_errors
    async def read_executions(self, after: str, limit: int) -> list[KeptExecution]:
        if not after:
            await self._flush()
        found = self.database.executions.find({"_id": {"$gt": after}}, sort=[("_id", 1)])
        docs = [doc async for doc in found.limit(limit)]
        holders = await self._holders({doc["job"] for doc in docs if doc.get("holds_job")})
        kept = []
        for doc in docs:
            row = row_of(doc)
            row.waits = waits_of(doc)
            # One that returned it already may not be noted yet.
            row.holds_job = row.holds_job and holders.get(doc["job"]) == doc["_id"]
            kept.append(kept_of(row, steps_of(doc)))
        return kept

    async def _flush(self) -> None:
        """Apply what a process that died has left to be applied."""
        left = {"outbox": {"$exists": True}, "outbox.op": {"$gt": ""}}  # as the index has it
        await self.transactions.commits.flush([doc async for doc in self.database.jobs.find(left)])

    async def _holders(self, job_ids: set[str]) -> dict[str, str]:
        if not job_ids:
            return {}
        found = self.database.jobs.find({"_id": {"$in": sorted(job_ids)}}, {"holder": 1})
        return {doc["_id"]: doc.get("holder", "") async for doc in found}

    @translate_errors
    async def restore_executions(self, kept: Sequence[KeptExecution]) -> None:
        for some in _in_pieces(kept):
            await self._restore(some)
        steps = [
            UpdateOne(
                {"_id": one.execution.id},
                {
                    "$set": {
                        f"steps.{step_key(step.name)}": step_document(step) for step in one.steps
                    }
                },
            )
            for one in kept
            if one.steps
        ]
        if steps:
            await self.database.executions.bulk_write(steps, ordered=False)

    async def _restore(self, kept: Sequence[KeptExecution]) -> None:
        async def read(space: Workspace) -> None:
            await self.transactions.read_rows(space, [one.execution.id for one in kept])

        async def change(space: Workspace) -> None:
            mine = [one for one in kept if one.execution.job_id in space.asked]
            await space.spec.transfer.restore_executions(mine)

        jobs = {one.execution.job_id for one in kept}
        await self.transactions.run(jobs, AT_ONCE, read, change)

    @translate_errors
    async def restore_skips(self, job: Job, skips: Sequence[RangeSkip]) -> None:
        docs = skip_documents(list(skips), "copy")
        there = {"job": job.id, "_id": {"$nin": [doc["_id"] for doc in docs]}}
        if not docs or await self.database.skips.find_one(there):
            return
        try:
            await self.database.skips.insert_many(docs, ordered=False)
        except BulkWriteError as error:
            if not is_duplicate(error):  # the rest of a call that was cut off
                raise
        await self.database.jobs.update_one(
            {"_id": job.id}, {"$set": {"prune_at": AT_ONCE}, "$inc": {"rev": 1}}
        )

    @translate_errors
    async def read_records(self, after: tuple[str, str, str], now: int, limit: int) -> list[Record]:
        where: Document = {
            "_id": {"$gt": record_id(*after)},
            "$or": [{"expires_at": {"$exists": False}}, {"expires_at": {"$gt": now}}],
        }
        found = self.database.records.find(where, sort=[("_id", 1)], limit=limit)
        return [record_of(doc) async for doc in found]

    @translate_errors
    async def restore_records(self, records: Sequence[Record]) -> None:
        writes = []
        for one in records:
            doc: Document = {
                "_id": record_id(one.kind, one.project, one.key),
                "document": json.dumps(one.document),
                "version": one.version,
            }
            if one.expires_at is not None:
                doc["expires_at"] = one.expires_at
            writes.append(ReplaceOne({"_id": doc["_id"]}, doc, upsert=True))
        if writes:
            await self.database.records.bulk_write(writes, ordered=False)


def _in_pieces(kept: Sequence[KeptExecution]) -> Iterator[list[KeptExecution]]:
    """Parts that a write of a job can carry."""
    some, size = list[KeptExecution](), 0
    for one in kept:
        own = one.execution
        large = own.payload, own.result, own.error, [each.result for each in own.attempts]
        weight = len(json.dumps(large)) + 2000
        if some and size + weight > MOST:
            yield some
            some, size = [], 0
        some.append(one)
        size += weight
    if some:
        yield some
