"""Commit: one compare-and-set on each job, then the other documents.

1. Executions that another process could change meanwhile (by a claim, a report, or at a concurrency
   gate) are frozen, at the revision that was read.
2. The job's document is changed if it is still at the revision that was read. The same write stores
   the outbox. From here on the operation is committed; any process may complete it.
3. The outbox is applied, and cleared.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from pymongo import UpdateOne
from pymongo.errors import BulkWriteError

from tickwell.errors import JobExists
from tickwell.stores.mongo.client import Client, Part
from tickwell.stores.mongo.codec import FIRST_ENDED
from tickwell.stores.mongo.database import Collection, Document, monotonic, new_op
from tickwell.stores.mongo.errors import is_duplicate
from tickwell.stores.mongo.workspace.concurrency_gates import ConcurrencyGates, Moved
from tickwell.stores.mongo.workspace.outbox import Event, events_of, updates_of
from tickwell.stores.mongo.workspace.workspace import Changes, Workspace

#: Seconds after which an outbox is read again before it is applied.
FRESH = 10.0


class Commits(Part):
    """Writes workspaces, and applies outboxes."""

    def __init__(self, client: Client, gates: ConcurrencyGates) -> None:
        super().__init__(client)
        self.gates = gates

    async def commit(self, space: Workspace) -> tuple[set[str], Moved]:
        """Write it; the jobs that changed in between, and executions that gates have moved."""
        changes = space.changes()
        barred = {id for id, each in changes.items() if each.is_barred}
        wanted = {id: each for id, each in changes.items() if id not in barred}
        if not wanted:
            return barred, {}
        op = new_op()
        missed = barred | await self._freeze(op, wanted)
        missed |= await self._move(op, {i: each for i, each in wanted.items() if i not in missed})
        await self._thaw(
            op, [id for each in wanted if each in missed for id in wanted[each].exposed]
        )
        written = {id: each for id, each in wanted.items() if id not in missed}
        for id in written:
            self.cache.put(space.tables.jobs[id].job)
        events = [event for event in space.flow.events if not event.job or event.job in written]
        outboxes = {id: each.outbox.document(op) for id, each in written.items() if each.outbox}
        moved = await self.apply(outboxes, events, monotonic())
        if written:
            self.client.bell.ring()
        return missed, moved

    async def _freeze(self, op: str, wanted: dict[str, Changes]) -> set[str]:
        """Freeze executions; the jobs of executions that changed in between."""
        exposed = {id: rev for each in wanted.values() for id, rev in each.exposed.items()}
        if not exposed:
            return set()
        executions = self.database.executions
        done = await executions.bulk_write(
            [
                UpdateOne(
                    {"_id": id, "rev": rev, "frozen": None},
                    {"$set": {"frozen": op}, "$inc": {"rev": 1}},
                )
                for id, rev in exposed.items()
            ],
            ordered=False,
        )
        if done.matched_count == len(exposed):
            return set()
        found = executions.find({"_id": {"$in": [*exposed]}, "frozen": op}, {"_id": 1})
        frozen = {doc["_id"] async for doc in found}
        return {job for job, each in wanted.items() if not frozen.issuperset(each.exposed)}

    async def _thaw(self, op: str, ids: Sequence[str]) -> None:
        if ids:
            await self.database.executions.update_many(
                {"_id": {"$in": list(ids)}, "frozen": op},
                {"$unset": {"frozen": ""}, "$inc": {"rev": 1}},
            )

    async def _move(self, op: str, wanted: dict[str, Changes]) -> set[str]:
        """Change the jobs' documents; the jobs that changed in between."""
        if not wanted:
            return set()
        jobs = self.database.jobs
        try:
            done = await jobs.bulk_write(
                [_moving(op, id, each) for id, each in wanted.items()], ordered=False
            )
        except BulkWriteError as error:
            if is_duplicate(error) and len(wanted) == 1:
                [changes] = wanted.values()
                await self._thaw(op, [*changes.exposed])
                raise JobExists(changes.update["$set"]["name"]) from error
            raise
        if done.matched_count == len(wanted):
            return set()
        found = jobs.find({"_id": {"$in": [*wanted]}, "moved_by": op}, {"_id": 1})
        moved = {doc["_id"] async for doc in found}
        return set(wanted) - moved

    async def flush(self, docs: Iterable[Document]) -> bool:
        """Apply the outboxes in these jobs' documents; whether there were any."""
        outboxes = {doc["_id"]: doc["outbox"] for doc in docs if "outbox" in doc}
        events = [event for each in outboxes.values() for event in events_of(each)]
        await self.apply(outboxes, events, monotonic())
        return bool(outboxes)

    async def apply(
        self, outboxes: dict[str, Document], events: list[Event], read_at: float
    ) -> Moved:
        """Apply outboxes, then clear them; the executions that gates have moved."""
        if not outboxes:
            return {}
        database, each = self.database, outboxes.values()
        new = [doc for outbox in each for doc in outbox.get("new", ())]
        updates = [one.write() for outbox in each for one in updates_of(outbox)]
        gone = [id for outbox in each for id in outbox.get("drop", ())]
        skips = [doc for outbox in each for doc in outbox.get("skips", ())]
        records = [doc for outbox in each for doc in outbox.get("records", ())]
        if monotonic() - read_at > FRESH:
            # Stopped in between: another process may have applied it, and pruned the result since.
            found = database.jobs.find({"_id": {"$in": [*outboxes]}, "outbox": {"$exists": True}})
            await self.flush([doc async for doc in found])
            return {}
        await asyncio.gather(
            insert_missing(database.executions, new),
            _write(database.executions, updates),
            insert_missing(database.skips, skips),
            insert_missing(database.records, records),
        )
        if gone:
            await database.executions.delete_many(
                {"_id": {"$in": gone}, "state": {"$gte": FIRST_ENDED}}
            )
        moved = await self.gates.handle(events)
        ops = {outbox["op"] for outbox in each}
        await database.jobs.update_many(
            {"_id": {"$in": [*outboxes]}, "outbox.op": {"$in": [*ops]}}, {"$unset": {"outbox": ""}}
        )
        return moved


async def insert_missing(collection: Collection, docs: list[Document]) -> None:
    """Insert the documents that do not exist yet."""
    if not docs:
        return
    try:
        await collection.insert_many(docs, ordered=False)
    except BulkWriteError as error:
        if not is_duplicate(error):
            raise


async def _write(collection: Collection, updates: list[UpdateOne]) -> None:
    if updates:
        await collection.bulk_write(updates, ordered=False)


def _moving(op: str, id: str, changes: Changes) -> UpdateOne:
    update: dict[str, Any] = {**changes.update, "$inc": {"rev": 1}}
    named: Document = {"moved_by": op}
    if changes.outbox:
        named["outbox"] = changes.outbox.document(op)
    update["$set"] = update.get("$set", {}) | named
    return UpdateOne({"_id": id, "rev": changes.rev}, update)
