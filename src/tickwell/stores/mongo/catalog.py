"""Jobs on MongoDB."""

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
from tickwell.stores.mongo.codec import ADDING, DELETED, JOB_STATE_CODE
from tickwell.stores.mongo.entries import entry_of, position
from tickwell.stores.mongo.errors import edge
from tickwell.stores.mongo.joining import MongoJoining
from tickwell.stores.mongo.listing import within_reach
from tickwell.stores.mongo.rows import Document
from tickwell.stores.mongo.workspace import Workspace
from tickwell.stores.page_cursor import read_values
from tickwell.stores.sql.codec import job_counts
from tickwell.stores.sql.edges import jobs_reach

#: Deleted jobs share names.
BY_NAME = [("project", 1), ("name", 1), ("_id", 1)]
BY_TIME = [("next", 1), ("_id", 1)]
_KINDS = {"next": int}


class MongoCatalog(MongoJoining):
    """`ports.store.CatalogStore`."""

    @edge
    async def change_jobs(
        self, project: str, ids: Sequence[str], change: Changer, now: int
    ) -> list[Changed]:
        return [await self._change(project, id, change, now) for id in ids]

    async def _change(self, project: str, id: str, change: Changer, now: int) -> Changed:
        answer: list[Changed] = []
        made: list[Change | None] = []

        async def fill(space: Workspace) -> None:
            space.require_readable()
            entry = space.tables.jobs.get(id)
            if entry is None or entry.job.project != project:
                raise NotFound("job", id)
            made[:] = [change(own(entry), now)]
            await self.read_skips(space, id, [skip for each in made if each for skip in each.skips])
            await self.read_live(space, id)
            space.free_gates(await self.read_holders(space, [id]))
            await self.read_rows(
                space, [new.id for each in made if each for new in each.executions]
            )

        async def do(space: Workspace) -> None:
            answer[:] = await space.spec.change_jobs(project, [id], lambda *_: made[0], now)

        await self.work([id], now, fill, do)
        return answer[0]

    @edge
    async def get_jobs(self, project: str, keys: Sequence[str]) -> list[Entry]:
        where: Document = {"project": project, "state": {"$gt": ADDING}}
        jobs = self._database.jobs
        by_id = [doc async for doc in jobs.find({"_id": {"$in": [*keys]}, **where})]
        named = {**where, "name": {"$in": [*keys]}, "state": {"$gt": ADDING, "$lt": DELETED}}
        by_name = {doc["name"]: doc async for doc in jobs.find(named)}
        known = by_name | {doc["_id"]: doc for doc in by_id}
        return [own(entry_of(self.cache, known[key])) for key in keys if key in known]

    @edge
    async def count_jobs(self, project: str | None = None) -> dict[JobState, int]:
        where: Document = {} if project is None else {"project": project}
        steps = [{"$match": where}, {"$group": {"_id": "$state", "count": {"$sum": 1}}}]
        found = await self._database.jobs.aggregate(steps)
        return job_counts([(doc["_id"], doc["count"]) async for doc in found])

    @edge
    async def list_jobs(
        self, where: JobFilter, cursor: str | None = None, limit: int = 100
    ) -> Page[Entry]:
        order = BY_NAME if where.fires_before is None else BY_TIME
        matching, jobs, last = _matching(where), self._database.jobs, None
        later = {} if cursor is None else _later(cursor, [name for name, _ in order])
        reach = jobs_reach(where)
        if reach is None:
            found = jobs.find({"$and": [matching, later]}, sort=order, limit=limit + 1)
            docs = [doc async for doc in found]
        else:
            # What an index can tell; that of jobs to be removed has no others.
            indexed = ("project", "app", *(("auto_remove",) if where.auto_remove else ()))
            along = {name: matching[name] for name in indexed if name in matching}
            walk = jobs, {"$and": [along, later]}, order
            docs, last = await within_reach(walk, matching, reach, limit + 1)
        items = []
        for doc in docs[:limit]:
            with suppress(StoreCorrupt):  # asked for by its name, it says so
                items.append(own(entry_of(self.cache, doc)))
        last = docs[limit - 1] if len(docs) > limit else last
        return Page(items=items, cursor=None if last is None else position(last, order))


def own(entry: Entry) -> Entry:
    """The caller's: both parts are frozen but for what the payload holds."""
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
    """Jobs that stand after this place; its first part leads to the index."""
    values = read_values(cursor, tuple(_KINDS.get(name, str) for name in names))
    either = [
        {**dict(zip(names[:depth], values, strict=False)), names[depth]: {"$gt": values[depth]}}
        for depth in range(len(names))
    ]
    return {names[0]: {"$gte": values[0]}, "$or": either}


def _literal(text: str) -> str:
    """A pattern that means nothing but this text."""
    return "".join(f"\\x{{{ord(each):x}}}" if not each.isalnum() else each for each in text)
