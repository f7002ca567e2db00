"""Adding jobs: one is one document; several appear together or not at all.

Jobs of a batch are inserted in a state that reserves their names and hides them. The batch's own
document says when all of them are inserted. Any process may end a batch that is still open: the one
that adds it then starts again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from pymongo.errors import BulkWriteError, DuplicateKeyError

from tickwell.domain.job import Entry
from tickwell.errors import StoreUnavailable
from tickwell.stores.event_wait import rest
from tickwell.stores.mongo.client import Part
from tickwell.stores.mongo.codec import ADDING, DELETED, clean
from tickwell.stores.mongo.database import Document, new_op
from tickwell.stores.mongo.documents import cursor_document, definition_document
from tickwell.stores.mongo.errors import is_duplicate
from tickwell.stores.mongo.workspace.sweep import Abandoned
from tickwell.stores.mongo.workspace.workspace import Workspace

MAX_TRIES = 100
#: Names or ids in one query.
PER_QUERY = 1000


class JobAdder(Part):
    """Adds jobs; part of the catalog."""

    async def add_jobs(self, entries: Sequence[Entry], now: int) -> list[Entry]:
        for tries in range(MAX_TRIES):
            space = Workspace(self.cache, now)
            adding = await self._read_known(space, entries)
            if adding:
                # Another process is adding one of these; if it is abandoned, it is ended.
                await rest(0.01)
                await self._end_batches(adding if tries > MAX_TRIES // 4 else [])
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
                self.client.bell.ring()
                return answer
        raise StoreUnavailable(f"{self.name}: other processes keep adding the same jobs; try again")

    async def _read_known(self, space: Workspace, entries: Sequence[Entry]) -> list[str]:
        """Read jobs with one of these ids, names or keys; the batches that are adding one."""
        docs: dict[str, Document] = {}
        for start in range(0, len(entries), PER_QUERY):
            some = entries[start : start + PER_QUERY]
            docs |= {doc["_id"]: doc async for doc in self._alike(some)}
        adding = sorted({doc["batch"] for doc in docs.values() if doc["state"] == ADDING})
        if not adding:
            for doc in docs.values():
                space.add_job(doc)
            return []
        batches = self.database.batches.find({"_id": {"$in": adding}})
        states = {doc["_id"]: doc["state"] async for doc in batches}
        for batch in adding:
            if states.get(batch) == "done":
                await self._finish(batch)
            elif batch not in states:
                await self._undo(batch)
        return adding

    def _alike(self, entries: Sequence[Entry]) -> AsyncIterator[Document]:
        """Jobs with one of these ids, names or keys, and perhaps some others."""
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
        return self.database.jobs.find({"$or": either})

    async def _insert(self, docs: list[Document]) -> bool:
        """Insert all or none; False if another process was faster with one of them."""
        try:
            if len(docs) == 1:
                await self.database.jobs.insert_one(docs[0])
            elif docs:
                return await self._insert_together(docs)
        except DuplicateKeyError:
            return False
        return True

    async def _insert_together(self, docs: list[Document]) -> bool:
        batch, database = new_op(), self.database
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
        """Make the jobs of a complete batch visible."""
        await self.database.jobs.update_many(
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
        await self.database.batches.delete_one({"_id": batch})

    async def _undo(self, batch: str) -> None:
        """Delete the jobs of a batch that was not completed."""
        await self.database.jobs.delete_many({"batch": batch, "state": ADDING})

    async def _end_batches(self, batches: list[str]) -> None:
        for batch in batches:
            ended = await self.database.batches.delete_one({"_id": batch, "state": "open"})
            if ended.deleted_count:
                await self._undo(batch)

    async def sweep(self, seen: Abandoned) -> None:
        """Finish or undo abandoned batches of jobs."""
        found = [doc async for doc in self.database.batches.find({"kind": "jobs"})]
        old = seen.among([doc["_id"] for doc in found])
        await self._end_batches([doc["_id"] for doc in found if doc["_id"] in old])
        for doc in found:
            if doc["_id"] in old and doc["state"] == "done":
                await self._finish(doc["_id"])
        await self._sweep_strays(seen, {doc["_id"] for doc in found})

    async def _sweep_strays(self, seen: Abandoned, batches: set[str]) -> None:
        """Jobs that were inserted after their batch had been ended."""
        there = {"batch": {"$exists": True}}
        found = self.database.jobs.find(there, {"batch": 1}, limit=PER_QUERY)
        strays = {doc["batch"] async for doc in found} - batches
        for batch in sorted(seen.among([f"batch {each}" for each in strays])):
            id = batch.removeprefix("batch ")
            if await self.database.batches.find_one({"_id": id}) is None:
                await self._undo(id)


def _document_of(entry: Entry, space: Workspace) -> Document:
    doc = {**definition_document(entry.job), **cursor_document(entry.cursor), "rev": 0}
    key = entry.job.dedupe_key
    if key and space.tables.dedupe.get((entry.job.project, key)) == entry.job.id:
        doc["dedupe"] = clean(key)
    return doc


def _hidden(doc: Document, batch: str) -> Document:
    """A job until its batch is complete: neither listed nor due."""
    shown = {name: doc[name] for name in ("state", "next") if name in doc}
    others = {name: value for name, value in doc.items() if name != "next"}
    return {**others, "state": ADDING, "batch": batch, "hidden": shown}
