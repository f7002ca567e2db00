"""What all parts of the store share: the collections, parsed jobs, and the bell."""

from __future__ import annotations

from collections.abc import Iterable

from tickwell.domain.execution import Claim
from tickwell.domain.job import Job
from tickwell.stores.memory.tables import own
from tickwell.stores.mongo.codec import KINDS, from_json
from tickwell.stores.mongo.database import Database, Document, new_op
from tickwell.stores.mongo.notifier import Bell, Ear
from tickwell.stores.mongo.url import Location
from tickwell.stores.sql.cache import JobCache

#: The fields of an execution that a claim has.
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


class Client:
    """The database of one store, with the jobs that this process has parsed."""

    #: Tells other processes of writes, and hears theirs.
    bell: Bell
    ear: Ear

    def __init__(self, location: Location) -> None:
        #: For people and logs; without credentials.
        self.name = location.name
        self.database = Database(location)
        self.cache = JobCache()

    def connect(self) -> None:
        """Make new connections."""
        self.database.connect()
        self.bell = Bell(self.database, new_op())
        self.ear = Ear(self.database, self.bell)

    async def close(self) -> None:
        """Close the connections."""
        await self.ear.close()
        await self.bell.close()
        await self.database.close()

    async def definitions(self, wanted: Iterable[tuple[str, int]], now: int) -> dict[str, Job]:
        """The readable jobs of these ids, by id; each with the version that its caller expects."""
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
            docs = self.database.jobs.find(
                {"_id": {"$in": [*missing]}}, {"version": 1, "document": 1}
            )
            async for doc in docs:
                id = doc["_id"]
                job = self.cache.read(id, (id, doc["version"], doc["document"]), now)
                if job is not None:
                    found[id] = job
        return found

    async def _current(self, ids: set[str]) -> list[tuple[str, int]]:
        """The current versions of jobs."""
        if not ids:
            return []
        found = self.database.jobs.find({"_id": {"$in": [*ids]}}, {"version": 1})
        return [(doc["_id"], doc["version"]) async for doc in found]

    async def claims(self, docs: list[Document], now: int) -> list[Claim]:
        """The claims of running executions, except those whose jobs cannot be read here."""
        jobs = await self.definitions(await self._current({doc["job"] for doc in docs}), now)
        return [claim_of(doc, jobs[doc["job"]]) for doc in docs if doc["job"] in jobs]


class Part:
    """A part of the store, with what all parts share."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.name = client.name
        self.database = client.database
        self.cache = client.cache


def claim_of(doc: Document, job: Job) -> Claim:
    """The claim of a running execution."""
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
