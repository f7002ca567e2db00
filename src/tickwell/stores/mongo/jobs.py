"""Definitions, from the cache where the version is known, and claims made with them."""

from __future__ import annotations

from collections.abc import Iterable

from tickwell.domain.execution import Claim
from tickwell.domain.job import Job
from tickwell.stores.memory.tables import own
from tickwell.stores.mongo.base import MongoBase
from tickwell.stores.mongo.codec import KINDS, from_json
from tickwell.stores.mongo.rows import Document

#: What a claim tells of an execution.
CLAIMED = dict.fromkeys(
    (
        "job",
        "version",
        "kind",
        "attempt",
        "charged",
        "lost",
        "returned",
        "fire_time",
        "run_at",
        "payload",
        "deadline",
        "worker",
        "claim",
        "started_at",
        "rank",
        "holds_job",
        "tied",
    ),
    1,
)


class MongoJobs(MongoBase):
    """Definitions by id."""

    async def definitions(self, wanted: Iterable[tuple[str, int]], now: int) -> dict[str, Job]:
        """The definitions of jobs given by id and likely version, by id; none is unreadable."""
        found, missing = dict[str, Job](), set[str]()
        for id, version in wanted:
            if id in found:
                continue
            job = self.cache.get(id, version)
            if job is None:
                missing.add(id)
            else:
                found[id] = job
        if missing:
            docs = self._database.jobs.find(
                {"_id": {"$in": [*missing]}}, {"version": 1, "document": 1}
            )
            async for doc in docs:
                id = doc["_id"]
                job = self.cache.read(id, (id, doc["version"], doc["document"]), now)
                if job is not None:
                    found[id] = job
        return found

    async def _in_force(self, ids: set[str]) -> list[tuple[str, int]]:
        """The versions that attempts which follow would run by."""
        if not ids:
            return []
        found = self._database.jobs.find({"_id": {"$in": [*ids]}}, {"version": 1})
        return [(doc["_id"], doc["version"]) async for doc in found]

    async def claims_of(self, docs: list[Document], now: int) -> list[Claim]:
        """Running executions as their workers know them, as far as their jobs can be read."""
        jobs = await self.definitions(await self._in_force({doc["job"] for doc in docs}), now)
        return [claim_of(doc, jobs[doc["job"]]) for doc in docs if doc["job"] in jobs]


def claim_of(doc: Document, job: Job) -> Claim:
    """A running execution as its worker knows it."""
    payload = doc.get("payload")
    return Claim(
        id=doc["_id"],
        job=job,
        kind=KINDS[doc["kind"]],
        attempt=doc["attempt"],
        charged=doc["charged"],
        lost=doc.get("lost", 0),
        returned=doc.get("returned", 0),
        fire_time=doc["fire_time"],
        run_at=doc["run_at"],
        payload=own(job.payload) if payload is None else from_json(payload),
        deadline=doc["deadline"],
        worker=doc["worker"],
        claim_id=doc["claim"],
        size=len(payload or ""),
        started_at=doc.get("started_at"),
    )
