"""Adding jobs: one is one document; several are there together or not at all.

Jobs of a batch are inserted as being added, which keeps their names and shows them to nobody. The
batch's own document says when all of them are there. One that is still open may be ended by anyone:
its adder then begins anew.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from pymongo.errors import BulkWriteError, DuplicateKeyError

from tickwell.domain.job import Entry
from tickwell.errors import StoreUnavailable
from tickwell.stores.mongo.base import new_op
from tickwell.stores.mongo.codec import ADDING, DELETED, clean
from tickwell.stores.mongo.entries import cursor_document, definition_document
from tickwell.stores.mongo.errors import edge, is_duplicate
from tickwell.stores.mongo.rows import Document
from tickwell.stores.mongo.sweeping import MongoSweeping
from tickwell.stores.mongo.workspace import Workspace
from tickwell.stores.pause import rest

TURNS = 100
#: Names or ids in one query.
MANY = 1000


class MongoJoining(MongoSweeping):
    """The part of `ports.store.CatalogStore` that adds jobs."""

    @edge
    async def add_jobs(self, entries: Sequence[Entry], now: int) -> list[Entry]:
        for turn in range(TURNS):
            space = Workspace(self.cache, now)
            joining = await self._read_known(space, entries)
            if joining:
                # Somebody is adding one of these; should that be left behind, it is ended.
                await rest(0.01)
                await self._end_batches(joining if turn > TURNS // 4 else [])
                continue
            known = set(space.tables.jobs)
            answer = await space.spec.add_jobs(entries, now)
            docs = [
                _document_of(entry, space)
                for id, entry in space.tables.jobs.items()
                if id not in known
            ]
            if await self._insert(docs):
                for id in set(space.tables.jobs) - known:
                    self.cache.put(space.tables.jobs[id].job)
                self.bell.ring()
                return answer
        raise StoreUnavailable(f"{self.name}: others add the same jobs all the time; try again")

    async def _read_known(self, space: Workspace, entries: Sequence[Entry]) -> list[str]:
        """Take in jobs that have one of these ids, names or keys; batches that are adding one."""
        docs: dict[str, Document] = {}
        for start in range(0, len(entries), MANY):
            some = entries[start : start + MANY]
            docs |= {doc["_id"]: doc async for doc in self._alike(some)}
        joining = sorted({doc["batch"] for doc in docs.values() if doc["state"] == ADDING})
        if not joining:
            for doc in docs.values():
                space.add_job(doc)
            return []
        batches = self._database.batches.find({"_id": {"$in": joining}})
        states = {doc["_id"]: doc["state"] async for doc in batches}
        for batch in joining:
            if states.get(batch) == "done":
                await self._finish(batch)
            elif batch not in states:
                await self._undo(batch)
        return joining

    def _alike(self, entries: Sequence[Entry]) -> AsyncIterator[Document]:
        """Jobs with one of these ids, names or keys, and perhaps a few more."""
        jobs = [entry.job for entry in entries]
        projects = sorted({job.project for job in jobs})
        names = {"project": {"$in": projects}, "state": {"$lt": DELETED}}
        either: list[Document] = [
            {"_id": {"$in": [job.id for job in jobs]}},
            {**names, "name": {"$in": [job.name for job in jobs]}},
        ]
        keys = [clean(job.dedupe_key) for job in jobs if job.dedupe_key]
        if keys:
            either.append({"project": {"$in": projects}, "dedupe": {"$in": keys}})
        return self._database.jobs.find({"$or": either})

    async def _insert(self, docs: list[Document]) -> bool:
        """All or none; False when somebody else was faster with one of them."""
        try:
            if len(docs) == 1:
                await self._database.jobs.insert_one(docs[0])
            elif docs:
                return await self._insert_together(docs)
        except DuplicateKeyError:
            return False
        return True

    async def _insert_together(self, docs: list[Document]) -> bool:
        batch, database = new_op(), self._database
        await database.batches.insert_one({"_id": batch, "kind": "jobs", "state": "open"})
        hidden = [_hidden(doc, batch) for doc in docs]
        try:
            await database.jobs.insert_many(hidden, ordered=False)
        except BulkWriteError as error:
            await self._end_batches([batch])
            if is_duplicate(error):
                return False
            raise
        agreed = await database.batches.update_one(
            {"_id": batch, "state": "open"}, {"$set": {"state": "done"}}
        )
        if not agreed.matched_count:
            await self._undo(batch)
            return False
        await self._finish(batch)
        return True

    async def _finish(self, batch: str) -> None:
        """Show jobs that are all there."""
        await self._database.jobs.update_many(
            {"batch": batch},
            [
                {
                    "$set": {
                        "state": "$hidden.state",
                        "next": {"$ifNull": ["$hidden.next", "$$REMOVE"]},
                    }
                },
                {"$unset": ["batch", "hidden"]},
            ],
        )
        await self._database.batches.delete_one({"_id": batch})

    async def _undo(self, batch: str) -> None:
        """Take away what was never agreed on."""
        await self._database.jobs.delete_many({"batch": batch, "state": ADDING})

    async def _end_batches(self, batches: list[str]) -> None:
        for batch in batches:
            ended = await self._database.batches.delete_one({"_id": batch, "state": "open"})
            if ended.deleted_count:
                await self._undo(batch)

    async def sweep_batches(self, seen: dict[str, float]) -> None:
        """Show what is agreed on, take away what is not."""
        found = [doc async for doc in self._database.batches.find({"kind": "jobs"})]
        old = self.left_behind(seen, [doc["_id"] for doc in found])
        await self._end_batches([doc["_id"] for doc in found if doc["_id"] in old])
        for doc in found:
            if doc["_id"] in old and doc["state"] == "done":
                await self._finish(doc["_id"])
        await self._sweep_homeless(seen, {doc["_id"] for doc in found})
        await super().sweep_batches(seen)

    async def _sweep_homeless(self, seen: dict[str, float], batches: set[str]) -> None:
        """Jobs that were inserted after their batch had been ended."""
        there = {"batch": {"$exists": True}}
        found = self._database.jobs.find(there, {"batch": 1}, limit=MANY)
        homeless = {doc["batch"] async for doc in found} - batches
        for batch in sorted(self.left_behind(seen, [f"batch {each}" for each in homeless])):
            id = batch.removeprefix("batch ")
            if await self._database.batches.find_one({"_id": id}) is None:
                await self._undo(id)


def _document_of(entry: Entry, space: Workspace) -> Document:
    doc = {**definition_document(entry.job), **cursor_document(entry.cursor), "rev": 0}
    key = entry.job.dedupe_key
    if key and space.tables.dedupe.get((entry.job.project, key)) == entry.job.id:
        doc["dedupe"] = clean(key)
    return doc


def _hidden(doc: Document, batch: str) -> Document:
    """As it is until all of its batch are there: neither listed nor due."""
    shown = {name: doc[name] for name in ("state", "next") if name in doc}
    rest = {name: value for name, value in doc.items() if name != "next"}
    return {**rest, "state": ADDING, "batch": batch, "hidden": shown}
