"""Jobs on MongoDB: changed, listed, counted."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from typing import Any

from tickwell.domain.change import Change, Changed, Changer
from tickwell.domain.job import Entry, JobState
from tickwell.errors import NotFound, StoreCorrupt
from tickwell.ports.records import JobFilter, Page
from tickwell.stores.mongo.add_jobs import JobAdder
from tickwell.stores.mongo.client import Part
from tickwell.stores.mongo.codec import ADDING, DELETED, JOB_STATE_CODE
from tickwell.stores.mongo.database import Document, scan_page
from tickwell.stores.mongo.documents import entry_of, page_cursor
from tickwell.stores.mongo.errors import translate_errors
from tickwell.stores.mongo.workspace.transaction import Transactions
from tickwell.stores.mongo.workspace.workspace import Workspace
from tickwell.stores.page_cursor import read_values
from tickwell.stores.sql.filters import jobs_reach
from tickwell.stores.sql.rows.codec import job_counts

#: Deleted jobs share names.
BY_NAME = [("project", 1), ("name", 1), ("_id", 1)]
BY_TIME = [("next", 1), ("_id", 1)]
_KINDS = {"next": int}


class MongoCatalog(Part):
    """`ports.store.CatalogStore`."""

    def __init__(self, transactions: Transactions) -> None:
        super().__init__(transactions.client)
        self.transactions = transactions
        self.adder = JobAdder(transactions.client)

    @translate_errors
    async def add_jobs(self, entries: Sequence[Entry], now: int) -> list[Entry]:
        return await self.adder.add_jobs(entries, now)

    @translate_errors
    async def change_jobs(
        self, project: str, ids: Sequence[str], change: Changer, now: int
    ) -> list[Changed]:
        return [await self._change(project, id, change, now) for id in ids]

    async def _change(self, project: str, id: str, change: Changer, now: int) -> Changed:
        answer: list[Changed] = []
        made: list[Change | None] = []

        async def read(space: Workspace) -> None:
            space.require_readable()
            entry = space.tables.jobs.get(id)
            if entry is None or entry.job.project != project:
                raise NotFound("job", id)
            made[:] = [change(own(entry), now)]
            await self.transactions.read_skips(
                space, id, [skip for each in made if each for skip in each.skips]
            )
            await self.transactions.read_live(space, id)
            space.free_gates(await self.transactions.read_holders(space, [id]))
            await self.transactions.read_rows(
                space, [new.id for each in made if each for new in each.executions]
            )

        async def apply(space: Workspace) -> None:
            answer[:] = await space.spec.change_jobs(project, [id], lambda *_: made[0], now)

        await self.transactions.run([id], now, read, apply)
        return answer[0]

    @translate_errors
    async def get_jobs(self, project: str, keys: Sequence[str]) -> list[Entry]:
        where: Document = {"project": project, "state": {"$gt": ADDING}}
        jobs = self.database.jobs
        by_id = [doc async for doc in jobs.find({"_id": {"$in": [*keys]}, **where})]
        named = {**where, "name": {"$in": [*keys]}, "state": {"$gt": ADDING, "$lt": DELETED}}
        by_name = {doc["name"]: doc async for doc in jobs.find(named)}
        known = by_name | {doc["_id"]: doc for doc in by_id}
        return [own(entry_of(self.cache, known[key])) for key in keys if key in known]

    @translate_errors
    async def count_jobs(self, project: str | None = None) -> dict[JobState, int]:
        where: Document = {} if project is None else {"project": project}
        steps = [{"$match": where}, {"$group": {"_id": "$state", "count": {"$sum": 1}}}]
        found = await self.database.jobs.aggregate(steps)
        return job_counts([(doc["_id"], doc["count"]) async for doc in found])

    @translate_errors
    async def list_jobs(
        self, where: JobFilter, cursor: str | None = None, limit: int = 100
    ) -> Page[Entry]:
        order = BY_NAME if where.fires_before is None else BY_TIME
        matching, jobs, last = _matching(where), self.database.jobs, None
        later = {} if cursor is None else _later(cursor, [name for name, _ in order])
        reach = jobs_reach(where)
        if reach is None:
            found = jobs.find({"$and": [matching, later]}, sort=order, limit=limit + 1)
            docs = [doc async for doc in found]
        else:
            # The fields in an index; the index of removable jobs has no others.
            names = ("project", "app", *(("auto_remove",) if where.auto_remove else ()))
            indexed = {name: matching[name] for name in names if name in matching}
            scan = jobs, {"$and": [indexed, later]}, order
            docs, last = await scan_page(scan, matching, reach, limit + 1)
        items = []
        for doc in docs[:limit]:
            with suppress(StoreCorrupt):  # `get_jobs` raises it
                items.append(own(entry_of(self.cache, doc)))
        last = docs[limit - 1] if len(docs) > limit else last
        return Page(items=items, cursor=None if last is None else page_cursor(last, order))


def own(entry: Entry) -> Entry:
    """A copy for the caller: only the payload can be changed."""
    job = entry.job
    if isinstance(job.payload, dict | list):
        job = replace(job, payload=deepcopy(job.payload))
    return Entry(job, entry.cursor)


def _matching(where: JobFilter) -> Document:
    query: dict[str, Any] = {"state": {"$in": [JOB_STATE_CODE[state] for state in where.states]}}
    named = {"project": where.project, "queue": where.queue, "app": where.app, "tags": where.tag}
    query |= {name: value for name, value in named.items() if value is not None}
    if where.search is not None:
        query["search"] = {"$regex": _literal(where.search.lower())}
    if where.auto_remove is not None:
        query["auto_remove"] = True if where.auto_remove else None
    if where.fires_before is not None:
        query["next"] = {"$lte": where.fires_before}
    return query


def _later(cursor: str, names: list[str]) -> Document:
    """Jobs after a page cursor; the first field selects the index."""
    values = read_values(cursor, tuple(_KINDS.get(name, str) for name in names))
    either = [
        {**dict(zip(names[:depth], values, strict=False)), names[depth]: {"$gt": values[depth]}}
        for depth in range(len(names))
    ]
    return {names[0]: {"$gte": values[0]}, "$or": either}


def _literal(text: str) -> str:
    """A pattern that matches exactly this text."""
    return "".join(f"\\x{{{ord(each):x}}}" if not each.isalnum() else each for each in text)
