"""Requested runs and backfills on MongoDB: all of them or none.

Runs of one job are one write of that job. Runs of several are noted together first, in a batch
that anyone may carry out: from then on all of them happen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from tickwell.domain.execution import NewExecution
from tickwell.domain.job import Job, JobState
from tickwell.errors import NotFound
from tickwell.stores.mongo.base import new_op
from tickwell.stores.mongo.codec import (
    DELETED,
    KIND_CODE,
    KINDS,
    OVERLAP_CODE,
    OVERLAPS,
    clean,
    from_json,
    to_json,
)
from tickwell.stores.mongo.errors import edge
from tickwell.stores.mongo.rows import Document
from tickwell.stores.mongo.sweeping import MongoSweeping
from tickwell.stores.mongo.workspace import Workspace

_PLAIN = [each.name for each in fields(NewExecution) if each.name not in {"job", "kind", "overlap"}]


class MongoAdding(MongoSweeping):
    """The part of `ports.store.HistoryStore` that records what is asked for."""

    @edge
    async def add_executions(
        self, new: Sequence[NewExecution], now: int, horizon: int
    ) -> list[str]:
        jobs = {one.job.id: one.job for one in new}
        if len(jobs) <= 1:
            return await self._add(new, now, horizon)
        await self._check(new)
        batch = new_op()
        runs = [_document_of(one) for one in new]
        await self._database.batches.insert_one(
            {"_id": batch, "kind": "runs", "now": now, "horizon": horizon, "runs": runs}
        )
        ids = await self._add(new, now, horizon, is_agreed=True)
        await self._database.batches.delete_one({"_id": batch})
        return ids

    async def _check(self, new: Sequence[NewExecution]) -> None:
        """Raise `NotFound` for a job that is deleted, before anything is written."""
        ids = [*{one.job.id for one in new}]
        where = {"_id": {"$in": ids}, "state": {"$gte": 0, "$lt": DELETED}}
        known = {doc["_id"] async for doc in self._database.jobs.find(where, {"_id": 1})}
        for one in new:
            if one.job.id not in known:
                raise NotFound("job", one.job.name)

    async def _add(
        self, new: Sequence[NewExecution], now: int, horizon: int, *, is_agreed: bool = False
    ) -> list[str]:
        answers: dict[str, str] = {}

        async def fill(space: Workspace) -> None:
            space.require_readable()
            some = [one for one in new if one.job.id in space.tables.jobs]
            await self.read_rows(space, [one.id for one in some])
            await self._read_keys(space, some)
            await self.read_gates(space, len(some) + 2, some)

        async def do(space: Workspace) -> None:
            some = [one for one in new if one.id not in answers]
            if is_agreed:
                # What was deleted meanwhile would have been cancelled with its job.
                answers.update((one.id, one.id) for one in some if _is_gone(space, one.job))
                some = [one for one in some if one.id not in answers]
            found = await space.spec.add_executions(some, now, horizon)
            space.answers = dict(zip((one.id for one in some), found, strict=True))

        def after(space: Workspace, missed: set[str], _: set[str]) -> None:
            kept = {one.id for one in new if one.job.id not in missed}
            answers.update((id, known) for id, known in space.answers.items() if id in kept)

        await self.work({one.job.id for one in new}, now, fill, do, after)
        return [answers[one.id] for one in new]

    async def _read_keys(self, space: Workspace, new: Sequence[NewExecution]) -> None:
        by_job: dict[str, list[str | None]] = {}
        for one in new:
            if one.key is not None:
                by_job.setdefault(one.job.id, []).append(clean(one.key))
        for job_id, keys in by_job.items():
            found = self._database.executions.find({"job": job_id, "key": {"$in": keys}})
            for doc in [doc async for doc in found]:
                space.add_row(doc)

    async def sweep_batches(self, seen: dict[str, float]) -> None:
        """Carry out what was noted and left."""
        found = [doc async for doc in self._database.batches.find({"kind": "runs"})]
        old = self.left_behind(seen, [doc["_id"] for doc in found])
        for doc in found:
            if doc["_id"] in old:
                await self._carry_out_batch(doc)
        await super().sweep_batches(seen)

    async def _carry_out_batch(self, doc: Document) -> None:
        space = Workspace(self.cache, doc["now"])
        await self.read_jobs(space, {run["job"] for run in doc["runs"]})
        jobs = {id: entry.job for id, entry in space.tables.jobs.items()}
        new = [_new_of(run, jobs[run["job"]]) for run in doc["runs"] if run["job"] in jobs]
        await self._add(new, doc["now"], doc["horizon"], is_agreed=True)
        await self._database.batches.delete_one({"_id": doc["_id"]})


def _is_gone(space: Workspace, job: Job) -> bool:
    entry = space.tables.jobs.get(job.id)
    return entry is None or entry.cursor.state is JobState.DELETED


def _document_of(new: NewExecution) -> Document:
    doc: dict[str, Any] = {name: getattr(new, name) for name in _PLAIN}
    doc |= {"job": new.job.id, "kind": KIND_CODE[new.kind], "overlap": OVERLAP_CODE[new.overlap]}
    return doc | {"payload": to_json(new.payload), "key": clean(new.key), "gate": clean(new.gate)}


def _new_of(doc: Document, job: Job) -> NewExecution:
    given = {name: doc[name] for name in _PLAIN}
    given |= {"payload": from_json(doc["payload"]), "job": job}
    return NewExecution(**given, kind=KINDS[doc["kind"]], overlap=OVERLAPS[doc["overlap"]])
